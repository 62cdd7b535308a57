// Compiles from the array dialect to code for a GPU: the host's part as object code, and the kernels as PTX, which the
// driver compiles at load time. The pipelines are in lib/Pipelines/Gpu.cpp.
#include "array/Pipelines/Gpu.h"
#include "Stages.h"
#include "array/Bufferize/MemoryPlan.h"
#include "array/Entry/CallSites.h"
#include "array/Entry/Entry.h"
#include "array/Gpu/Kernels.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"

namespace mlir::array {

FailureOr<GpuChip> chipOf(ModuleOp module, StringRef capability) {
  auto [major, minor] = capability.split('.');
  unsigned numbers[2];
  if (major.getAsInteger(10, numbers[0]) || minor.getAsInteger(10, numbers[1]) || numbers[1] > 9)
    return module.emitError("no compute capability: '") << capability << "', expected two numbers, as in 9.0";
  if (std::optional<GpuChip> chip = chipFor(10 * numbers[0] + numbers[1]))
    return *chip;
  return module.emitError("no code can be made for GPUs of compute capability ") << capability << ", only from 7.5 on";
}

LogicalResult toLinalgForThreads(ModuleOp module, Timings &passes) {
  return runPipeline(module, "linalg for threads", buildArrayToLinalgForThreadsPipeline, passes);
}

/// The name of a kept pipeline, which determines its contents.
static std::string nameFor(StringRef stage, GpuChip chip, ArrayRef<std::string> libraries) {
  std::string name = (stage + " for " + chipName(chip)).str();
  for (const std::string &library : libraries)
    name += ", " + library;
  return name;
}

LogicalResult toKernels(ModuleOp module, GpuChip chip, ArrayRef<std::string> libraries, Timings &passes) {
  auto build = [&](OpPassManager &pm) { buildBuffersToKernelsPipeline(pm, chip, libraries); };
  return runPipeline(module, nameFor("kernels", chip, libraries), build, passes);
}

OwningOpRef<ModuleOp> takeKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> taken = ModuleOp::create(module.getLoc());
  for (auto kernels : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
    kernels->moveBefore(taken->getBody(), taken->getBody()->end());
  (*taken)->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), UnitAttr::get(module.getContext()));
  return taken;
}

LogicalResult toNvvm(ModuleOp kernels, GpuChip chip, Timings &passes) {
  auto build = [&](OpPassManager &pm) { buildKernelsToNvvmPipeline(pm, chip); };
  return runPipeline(kernels, "NVVM for " + chipName(chip).str(), build, passes);
}

FailureOr<std::string> toPtx(ModuleOp kernels, bool hasLines, Timings &passes) {
  auto build = [&](OpPassManager &pm) { buildNvvmToPtxPipeline(pm, hasLines); };
  if (failed(runPipeline(kernels, hasLines ? "PTX, lines" : "PTX", build, passes)))
    return failure();
  std::string text;
  for (auto binary : kernels.getOps<gpu::BinaryOp>())
    text += cast<gpu::ObjectAttr>(binary.getObjects()[0]).getObject().getValue();
  return text;
}

void loadGpuDialects(MLIRContext *context) {
  DialectRegistry registry;
  registerGpuDialects(registry);
  context->appendDialectRegistry(registry);
}

namespace {

/// PTX as the driver takes it: text with a 0 at its end.
FailureOr<std::vector<char>> toImage(ModuleOp kernels, GpuChip chip, bool hasLines, Timings &passes) {
  if (failed(toNvvm(kernels, chip, passes)))
    return failure();
  FailureOr<std::string> text = toPtx(kernels, hasLines, passes);
  if (failed(text))
    return failure();
  return std::vector<char>(text->c_str(), text->c_str() + text->size() + 1);
}

/// The tests run each kernel once, on few elements: its compilation is the time of a test.
void leaveAsIs(llvm::Module &kernels) {
  for (llvm::Function &function : kernels)
    if (!function.isDeclaration()) {
      function.removeFnAttr(llvm::Attribute::AlwaysInline);
      // LLVM requires both.
      function.addFnAttr(llvm::Attribute::OptimizeNone);
      function.addFnAttr(llvm::Attribute::NoInline);
    }
}

FailureOr<std::vector<char>> toEmulatedObject(ModuleOp kernels, HostTarget &target, Timings &passes) {
  if (failed(runPipeline(kernels, "emulation", buildKernelsToEmulationPipeline, passes)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!code)
    return failure();
  target.prepare(*code);
  leaveAsIs(*code);
  target.optimize(*code);
  llvm::Expected<std::vector<char>> object = target.emit(*code, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return report(kernels, object.takeError());
  return std::move(*object);
}

std::vector<std::string> kernelNames(ModuleOp module) {
  std::vector<std::string> names;
  if (auto given = module->getAttrOfType<ArrayAttr>(kKernelNamesAttr))
    for (auto name : given.getAsRange<StringAttr>())
      names.push_back(name.str());
  return names;
}

} // namespace

FailureOr<CompiledObject> compileForGpu(ModuleOp module, const GpuOptions &options) {
  CompiledObject result;
  Timings &timings = result.timings, &passes = result.passes;
  auto stage = [&](StringRef name, llvm::function_ref<LogicalResult()> run) { return timed(timings, name, run); };
  const CompileOptions onHost;
  FailureOr<HostTarget *> host = getTarget(module, onHost);
  FailureOr<GpuChip> chip = chipOf(module, options.capability);
  if (failed(host) || failed(chip) || failed(stage("verify", [&] { return verify(module); })))
    return failure();

  loadGpuDialects(module.getContext());
  OwningOpRef<ModuleOp> lowered = cloneForMain(module);
  if (failed(stage("linalg", [&] { return toLinalgForThreads(*lowered, passes); })))
    return failure();
  result.flops = estimateFlops(*lowered);
  if (failed(stage("buffers", [&] { return toBuffers(lowered, gpuFeatures(), passes); })) ||
      failed(stage("kernels", [&] { return toKernels(*lowered, *chip, options.libraries, passes); })))
    return failure();
  result.arenaBytes = arenaBytes(*lowered);
  result.kernels = kernelNames(*lowered);

  OwningOpRef<ModuleOp> kernels = takeKernels(*lowered);
  if (!result.kernels.empty()) {
    FailureOr<std::vector<char>> image = timed(timings, "image", [&] {
      return options.isEmulated ? toEmulatedObject(*kernels, **host, passes)
                                : toImage(*kernels, *chip, options.hasLines, passes);
    });
    if (failed(image))
      return failure();
    result.image = std::move(*image);
  }
  if (failed(stage("llvm", [&] { return runPipeline(*lowered, "launches", buildLaunchesToLLVMPipeline, passes); })))
    return failure();
  result.sites = getCallSites(*lowered);
  result.waits = (*lowered)->hasAttr(kWaitsAttr);
  FailureOr<std::vector<char>> object = toObject(*lowered, **host, /*built=*/nullptr, onHost, timings);
  if (failed(object))
    return failure();
  result.object = std::move(*object);
  result.entry = kEntryName.str();
  return result;
}

FailureOr<std::vector<PlannedBuffer>> memoryPlan(ModuleOp module, const GpuOptions &options) {
  FailureOr<GpuChip> chip = chipOf(module, options.capability);
  if (failed(chip))
    return failure();
  loadGpuDialects(module.getContext());
  OwningOpRef<ModuleOp> lowered = cloneForMain(module);
  Timings passes;
  auto build = [&](OpPassManager &pm) { buildBuffersToGpuArenaPipeline(pm, *chip, options.libraries); };
  if (failed(toLinalgForThreads(*lowered, passes)) || failed(toBuffers(lowered, gpuFeatures(), passes)) ||
      failed(runPipeline(*lowered, nameFor("arena", *chip, options.libraries), build, passes)))
    return failure();
  return getMemoryPlan(*lowered);
}

} // namespace mlir::array

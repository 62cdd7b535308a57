// From the array dialect to what runs on a GPU: the host's part as object code, and the kernels as PTX, which the
// driver compiles when they are loaded. The pipelines are in lib/Pipelines/Gpu.cpp.
#include "array/Pipelines/Gpu.h"
#include "Stages.h"
#include "array/Gpu/Kernels.h"
#include "array/Transforms/Entry.h"
#include "array/Transforms/Sites.h"

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

namespace {

/// A module of the kernels alone.
OwningOpRef<ModuleOp> takeKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> taken = ModuleOp::create(module.getLoc());
  for (auto kernels : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
    kernels->moveBefore(taken->getBody(), taken->getBody()->end());
  (*taken)->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), UnitAttr::get(module.getContext()));
  return taken;
}

/// PTX as the driver takes it: text with a 0 at its end.
FailureOr<std::vector<char>> toPtx(ModuleOp kernels, GpuChip chip, bool hasLines, Timings &passes) {
  auto build = [&](OpPassManager &pm) { buildKernelsToPtxPipeline(pm, chip, hasLines); };
  if (failed(runPipeline(kernels, "PTX for " + chipName(chip).str() + (hasLines ? ", lines" : ""), build, passes)))
    return failure();
  std::vector<char> text;
  for (auto binary : kernels.getOps<gpu::BinaryOp>()) {
    StringRef object = cast<gpu::ObjectAttr>(binary.getObjects()[0]).getObject().getValue();
    text.assign(object.begin(), object.end());
  }
  text.push_back(0);
  return text;
}

FailureOr<std::vector<char>> toEmulatedObject(ModuleOp kernels, HostTarget &target, Timings &passes) {
  if (failed(runPipeline(kernels, "emulation", buildKernelsToEmulationPipeline, passes)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!code)
    return failure();
  target.prepare(*code);
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

void loadGpuDialects(MLIRContext *context) {
  DialectRegistry registry;
  registerGpuDialects(registry);
  context->appendDialectRegistry(registry);
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
  OwningOpRef<ModuleOp> lowered(module.clone());
  if (failed(stage("linalg", [&] {
        return runPipeline(*lowered, "linalg for threads", buildArrayToLinalgForThreadsPipeline, passes);
      })))
    return failure();
  result.flops = estimateFlops(*lowered);
  // What is kept under a name does not depend on anything else.
  std::string kernelsName = "kernels for " + chipName(*chip).str();
  for (const std::string &library : options.libraries)
    kernelsName += ", " + library;
  auto toKernels = [&](OpPassManager &pm) { buildBuffersToKernelsPipeline(pm, *chip, options.libraries); };
  if (failed(stage("buffers", [&] { return toBuffers(lowered, gpuFeatures(), passes); })) ||
      failed(stage("kernels", [&] { return runPipeline(*lowered, kernelsName, toKernels, passes); })))
    return failure();
  result.arenaBytes = arenaBytes(*lowered);
  result.kernels = kernelNames(*lowered);

  OwningOpRef<ModuleOp> kernels = takeKernels(*lowered);
  if (!result.kernels.empty()) {
    FailureOr<std::vector<char>> image = timed(timings, "image", [&] {
      return options.isEmulated ? toEmulatedObject(*kernels, **host, passes)
                                : toPtx(*kernels, *chip, options.hasLines, passes);
    });
    if (failed(image))
      return failure();
    result.image = std::move(*image);
  }
  if (failed(stage("llvm", [&] { return runPipeline(*lowered, "launches", buildLaunchesToLLVMPipeline, passes); })))
    return failure();
  result.sites = getSites(*lowered);
  result.waits = (*lowered)->hasAttr(kWaitsAttr);
  FailureOr<std::vector<char>> object = toObject(*lowered, **host, /*built=*/nullptr, onHost, timings);
  if (failed(object))
    return failure();
  result.object = std::move(*object);
  result.entry = kEntryName.str();
  return result;
}

} // namespace mlir::array

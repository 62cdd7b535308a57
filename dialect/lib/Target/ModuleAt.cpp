// Lowers a module to a stage of the table below. The pipelines are those of Compile.cpp and Gpu.cpp. Here a module is
// compiled as one unit, and nothing is cached.
#include "array/Target/ModuleAt.h"
#include "Stages.h"
#include "array/Pipelines/Cpu.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"

namespace mlir::array {

struct Lowering {
  OwningOpRef<ModuleOp> module;
  const StageOptions &options;
  CpuFeatures features = {};
  GpuChip chip = {};
  Timings passes = {};
};

namespace {

LogicalResult keep(Lowering &) { return success(); }
LogicalResult lowerToLinalg(Lowering &of) {
  return runPipeline(*of.module, "linalg", buildArrayToLinalgPipeline, of.passes);
}
LogicalResult lowerToBuffers(Lowering &of) { return toBuffers(of.module, of.features, of.passes); }
LogicalResult lowerToLoops(Lowering &of) { return toLoops(*of.module, of.features, of.passes); }
LogicalResult lowerToLLVM(Lowering &of) { return runPipeline(*of.module, "llvm", buildLoopsToLLVMPipeline, of.passes); }
LogicalResult lowerToKernels(Lowering &of) {
  loadGpuDialects(of.module->getContext());
  return success(succeeded(toLinalgForThreads(*of.module, of.passes)) &&
                 succeeded(toBuffers(of.module, gpuFeatures(), of.passes)) &&
                 succeeded(toKernels(*of.module, of.chip, of.options.libraries, of.passes)));
}
LogicalResult lowerToNvvm(Lowering &of) {
  of.module = takeKernels(*of.module);
  return toNvvm(*of.module, of.chip, of.passes);
}

using Code = FailureOr<std::string>;

/// Calls `emit` with the LLVM IR of the whole module in one piece, ready for code generation.
Code emitFromLLVMIR(ModuleOp module, const StageOptions &options,
                    llvm::function_ref<Code(llvm::Module &, HostTarget &)> emit) {
  FailureOr<HostTarget *> host = getTarget(module, options.host);
  if (failed(host))
    return failure();
  Timings passes;
  if (options.hasLines && failed(runPipeline(module, "lines", buildLinesPipeline, passes)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "pycompiler", /*disableVerification=*/true);
  if (!code)
    return failure();
  (*host)->prepare(*code);
  (*host)->optimize(*code);
  return emit(*code, **host);
}

Code emitLLVMIR(ModuleOp module, const StageOptions &options) {
  return emitFromLLVMIR(module, options, [](llvm::Module &code, HostTarget &) -> Code {
    std::string text;
    llvm::raw_string_ostream stream(text);
    code.print(stream, nullptr);
    return text;
  });
}

Code emitAssembly(ModuleOp module, const StageOptions &options) {
  return emitFromLLVMIR(module, options, [&](llvm::Module &code, HostTarget &host) -> Code {
    auto assembly = host.emit(code, llvm::CodeGenFileType::AssemblyFile);
    if (!assembly)
      return report(module, assembly.takeError());
    return std::string(assembly->begin(), assembly->end());
  });
}

Code emitObject(ModuleOp module, const StageOptions &options) {
  FailureOr<HostTarget *> host = getTarget(module, options.host);
  if (failed(host))
    return failure();
  Timings timings;
  FailureOr<std::vector<char>> object = toObject(module, **host, /*built=*/nullptr, options.host, timings);
  if (failed(object))
    return failure();
  return std::string(object->begin(), object->end());
}

Code emitPtx(ModuleOp module, const StageOptions &options) {
  Timings passes;
  return toPtx(module, options.hasLines, passes);
}

constexpr bool kCpu = false, kGpu = true, kBytes = false, kText = true;

constexpr Stage kStages[] = {
    {"array", "The array dialect, as it is read", kCpu, kText, keep, nullptr},
    {"linalg", "linalg on tensors", kCpu, kText, lowerToLinalg, nullptr},
    {"bufferized", "Fused linalg on buffers", kCpu, kText, lowerToBuffers, nullptr},
    {"loops", "Loops over vectors, temporaries in one arena", kCpu, kText, lowerToLoops, nullptr},
    {"llvm", "The LLVM dialect, with the C entry", kCpu, kText, lowerToLLVM, nullptr},
    {"llvmir", "LLVM IR, optimized", kCpu, kText, nullptr, emitLLVMIR},
    {"asm", "Assembly", kCpu, kText, nullptr, emitAssembly},
    {"object", "A relocatable object, as the runtime loads it", kCpu, kBytes, nullptr, emitObject},
    {"kernels", "For a GPU: the host's part, and the kernels that it launches", kGpu, kText, lowerToKernels, nullptr},
    {"nvvm", "For a GPU: the kernels in the NVVM dialect", kGpu, kText, lowerToNvvm, nullptr},
    {"ptx", "For a GPU: the kernels as PTX", kGpu, kText, nullptr, emitPtx},
};

} // namespace

ArrayRef<Stage> stages() { return kStages; }

static std::string knownChips() {
  std::string names;
#define ARRAY_GPU_CHIP_NAME(name, feature) names += " " #name;
  ARRAY_GPU_CHIPS(ARRAY_GPU_CHIP_NAME)
#undef ARRAY_GPU_CHIP_NAME
  return names;
}

FailureOr<OwningOpRef<ModuleOp>> lowerTo(ModuleOp module, const Stage &stage, const StageOptions &options) {
  Lowering lowering{cloneForMain(module), options};
  if (stage.isForGpu) {
    std::optional<GpuChip> chip = chipNamed(options.chip);
    if (!chip)
      return module.emitError("no code can be made for the GPU '") << options.chip << "', only for" << knownChips();
    lowering.chip = *chip;
  } else {
    FailureOr<HostTarget *> host = getTarget(module, options.host);
    if (failed(host))
      return failure();
    lowering.features = (*host)->features();
  }
  if (failed(verify(module)))
    return failure();
  for (const Stage *passed = kStages; passed <= &stage; ++passed)
    if (passed->isForGpu == stage.isForGpu && !passed->isCode() && failed(passed->lower(lowering)))
      return failure();
  return std::move(lowering.module);
}

std::vector<std::string> shownStages() {
  std::vector<std::string> names;
  for (const Stage &stage : kStages)
    if (!stage.isForGpu && stage.isText)
      names.push_back(stage.name.str());
  return names;
}

FailureOr<std::string> moduleAt(ModuleOp module, StringRef name, const CompileOptions &options, bool hasLines) {
  std::vector<std::string> shown = shownStages();
  if (!llvm::is_contained(shown, name))
    return module.emitError("there is no stage '") << name << "'; the stages are " << llvm::join(shown, ", ");
  const Stage *stage = llvm::find_if(kStages, [&](const Stage &known) { return known.name == name; });
  StageOptions stageOptions{options, /*chip=*/"", /*libraries=*/{}, hasLines};
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowerTo(module, *stage, stageOptions);
  if (failed(lowered))
    return failure();
  if (stage->isCode())
    return stage->emit(**lowered, stageOptions);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*lowered)->print(stream, OpPrintingFlags().enableDebugInfo(hasLines, /*prettyForm=*/false));
  return text;
}

} // namespace mlir::array

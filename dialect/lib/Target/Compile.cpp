// The whole way from the array dialect to object code: the pipelines of lib/Pipelines, the translation to LLVM IR, and
// LLVM's part in Host.cpp. The bytes go to runtime/ or to the disk cache; both load them in the same way.
#include "array/Target/Compile.h"
#include "Stages.h"
#include "array/Pipelines/Cpu.h"
#include "array/Transforms/Entry.h"
#include "array/Transforms/Sites.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"

namespace mlir::array {
namespace {

LogicalResult toLoops(ModuleOp module, const CpuFeatures &features, Timings &passes) {
  auto build = [&](OpPassManager &pm) { buildBuffersToLoopsPipeline(pm, features); };
  return runPipeline(module, "loops of " + nameOf(features), build, passes);
}

} // namespace

FailureOr<CompiledObject> compileToObject(ModuleOp module, const CompileOptions &options) {
  CompiledObject result;
  Timings &timings = result.timings;
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target))
    return failure();
  if (failed(timed(timings, "verify", [&] { return verify(module); })))
    return failure();

  OwningOpRef<ModuleOp> lowered(module.clone());
  const BuiltLevel *built = findBuiltLevel(**target);
  if (built)
    declareBuilt(*lowered, *built);
  Timings &passes = result.passes;
  auto stage = [&](StringRef name, llvm::function_ref<LogicalResult()> run) { return timed(timings, name, run); };
  if (failed(stage("linalg", [&] { return runPipeline(*lowered, "linalg", buildArrayToLinalgPipeline, passes); })))
    return failure();
  result.flops = estimateFlops(*lowered);
  UnboundedLoops unbounded = findUnboundedLoops(*lowered);
  result.isUnbounded = unbounded.whileLoops || unbounded.forLoops;
  CpuFeatures features = (*target)->features();
  if (failed(stage("buffers", [&] { return toBuffers(lowered, features, passes); })) ||
      failed(stage("loops", [&] { return toLoops(*lowered, features, passes); })))
    return failure();
  result.arenaBytes = arenaBytes(*lowered);
  if (failed(stage("llvm", [&] { return runPipeline(*lowered, "llvm", buildLoopsToLLVMPipeline, passes); })))
    return failure();
  result.sites = getSites(*lowered);
  result.givesUp = !unbounded.forLoops && (*lowered)->hasAttr(kGivesUpAttr);

  FailureOr<std::vector<char>> object = toObject(*lowered, **target, built, options, timings);
  if (failed(object))
    return failure();
  result.object = std::move(*object);
  result.entry = kEntryName.str();
  return result;
}

namespace {

/// A copy of a module whose tensors have buffers, and what its machine has.
struct Buffered {
  OwningOpRef<ModuleOp> module;
  CpuFeatures features;
};

FailureOr<Buffered> lowerToBuffers(ModuleOp module, const CompileOptions &options) {
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target) || failed(verify(module)))
    return failure();
  Buffered lowered{OwningOpRef<ModuleOp>(module.clone()), (*target)->features()};
  Timings passes;
  if (failed(runPipeline(*lowered.module, "linalg", buildArrayToLinalgPipeline, passes)) ||
      failed(toBuffers(lowered.module, lowered.features, passes)))
    return failure();
  return lowered;
}

} // namespace

FailureOr<std::vector<PlannedBuffer>> memoryPlan(ModuleOp module, const CompileOptions &options) {
  FailureOr<Buffered> lowered = lowerToBuffers(module, options);
  if (failed(lowered))
    return failure();
  auto toArena = [&](OpPassManager &pm) { buildBuffersToArenaPipeline(pm, lowered->features); };
  Timings passes;
  if (failed(runPipeline(*lowered->module, "arena of " + nameOf(lowered->features), toArena, passes)))
    return failure();
  return getMemoryPlan(*lowered->module);
}

FailureOr<std::vector<ProductPlan>> productPlans(ModuleOp module, const CompileOptions &options) {
  FailureOr<Buffered> lowered = lowerToBuffers(module, options);
  if (failed(lowered))
    return failure();
  std::vector<ProductPlan> plans;
  lowered->module->walk([&](linalg::LinalgOp op) {
    if (plans.empty())
      plans = convolutionPlans(op, lowered->features.vectorBits);
    if (plans.empty())
      plans = productPlans(op, lowered->features.vectorBits, lowered->features.bfloat16Pairs);
  });
  return plans;
}

FailureOr<std::string> moduleAt(ModuleOp module, StringRef stage, const CompileOptions &options, bool hasLines) {
  const auto *found = llvm::find(kStages, stage);
  if (found == std::end(kStages))
    return module.emitError("there is no stage '")
           << stage << "'; the stages are " << llvm::join(ArrayRef(kStages), ", ");
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target) || failed(verify(module)))
    return failure();

  OwningOpRef<ModuleOp> lowered(module.clone());
  CpuFeatures features = (*target)->features();
  bool toAssembly = stage == "asm";
  Timings passes;
  // The pipeline that leads to each of kStages; the first is the input, the last is not MLIR any more.
  const std::function<LogicalResult()> steps[] = {
      [] { return success(); }, [&] { return runPipeline(*lowered, "linalg", buildArrayToLinalgPipeline, passes); },
      [&] { return toBuffers(lowered, features, passes); }, [&] { return toLoops(*lowered, features, passes); },
      [&] { return runPipeline(*lowered, "llvm", buildLoopsToLLVMPipeline, passes); }};
  for (const auto &step : ArrayRef(steps).take_front(toAssembly ? std::size(steps) : found - kStages + 1))
    if (failed(step()))
      return failure();

  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!toAssembly) {
    lowered->print(stream, OpPrintingFlags().enableDebugInfo(hasLines, /*prettyForm=*/false));
    return text;
  }
  if (hasLines && failed(runPipeline(*lowered, "lines", buildLinesPipeline, passes)))
    return failure();
  // In one piece, whatever is compiled in several.
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*lowered, context, "pycompiler", /*disableVerification=*/true);
  if (!code)
    return failure();
  (*target)->prepare(*code);
  (*target)->optimize(*code);
  auto assembly = (*target)->emit(*code, llvm::CodeGenFileType::AssemblyFile);
  if (!assembly)
    return report(module, assembly.takeError());
  return std::string(assembly->begin(), assembly->end());
}

} // namespace mlir::array

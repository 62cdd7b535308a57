// The compilation from the array dialect to object code: the pipelines of lib/Pipelines, the translation to LLVM IR,
// and LLVM's part in Host.cpp. The bytes go to runtime/ or to the disk cache; both load them in the same way.
#include "array/Target/Compile.h"
#include "Stages.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/CallSites.h"
#include "array/Entry/Entry.h"
#include "array/Pipelines/Cpu.h"

#include "mlir/IR/Verifier.h"

namespace mlir::array {

/// Records the symbolic sizes for the caller.
static void noteSizes(ModuleOp module, CompiledObject &result) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  result.symbols = countGivenSymbols(main);
  result.symbolEntries = main->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  for (unsigned index = 0; index < main.getNumArguments(); ++index) {
    auto dims = main.getArgAttrOfType<AffineMapAttr>(index, kDimsAttr);
    std::optional<EntryRole> role = getEntryRole(main, index);
    if (role == EntryRole::Argument || role == EntryRole::Result)
      (role == EntryRole::Argument ? result.argumentDims : result.resultDims)
          .push_back(dims ? dims.getValue() : AffineMap());
  }
}

FailureOr<CompiledObject> compileToObject(ModuleOp module, const CompileOptions &options) {
  CompiledObject result;
  Timings &timings = result.timings;
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target))
    return failure();
  if (failed(timed(timings, "verify", [&] { return verify(module); })))
    return failure();

  OwningOpRef<ModuleOp> lowered = cloneForMain(module);
  if (auto main = lowered->lookupSymbol<func::FuncOp>("main"))
    declareSymbols(main);
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
  noteSizes(*lowered, result);
  if (failed(stage("llvm", [&] { return runPipeline(*lowered, "llvm", buildLoopsToLLVMPipeline, passes); })))
    return failure();
  result.sites = getCallSites(*lowered);
  result.hasLoopBudget = !unbounded.forLoops && (*lowered)->hasAttr(kLoopBudgetAttr);

  FailureOr<std::vector<char>> object = toObject(*lowered, **target, built, options, timings);
  if (failed(object))
    return failure();
  result.object = std::move(*object);
  result.entry = kEntryName.str();
  return result;
}

namespace {

/// A copy of a module after bufferization, and the features of its machine.
struct Buffered {
  OwningOpRef<ModuleOp> module;
  CpuFeatures features;
};

FailureOr<Buffered> lowerToBuffers(ModuleOp module, const CompileOptions &options) {
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target) || failed(verify(module)))
    return failure();
  Buffered lowered{cloneForMain(module), (*target)->features()};
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

FailureOr<std::vector<MatmulPlan>> matmulPlans(ModuleOp module, const CompileOptions &options) {
  FailureOr<Buffered> lowered = lowerToBuffers(module, options);
  if (failed(lowered))
    return failure();
  std::vector<MatmulPlan> plans;
  lowered->module->walk([&](linalg::LinalgOp op) {
    if (plans.empty())
      plans = convolutionPlans(op, lowered->features.vectorBits);
    if (plans.empty())
      plans = matmulPlans(op, lowered->features.vectorBits, lowered->features.bfloat16Dot2);
  });
  return plans;
}

} // namespace mlir::array

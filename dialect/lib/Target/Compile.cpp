// The whole way from the array dialect to object code: the pipelines of lib/Pipelines, the translation to LLVM IR, and
// LLVM's part in Host.cpp. The bytes go to runtime/ or to the disk cache; both load them in the same way.
#include "array/Target/Compile.h"
#include "BuiltLevel.h"
#include "KeptPipelines.h"
#include "array/Pipelines/Cpu.h"
#include "array/Transforms/Entry.h"
#include "array/Transforms/Sites.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include <chrono>

namespace mlir::array {
namespace {

/// Runs `stage` and notes its time under `name`.
template <typename Stage> auto timed(Timings &timings, StringRef name, Stage stage) {
  auto start = std::chrono::steady_clock::now();
  auto result = stage();
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  timings.emplace_back(name.str(), elapsed.count());
  return result;
}

/// Tells the pipelines that are kept apart.
std::string nameOf(const CpuFeatures &features) {
  return std::to_string(features.vectorBits) + (features.fma ? "" : " without fma") +
         (features.bfloat16Pairs ? " with pairs" : "");
}

/// Gives tensors buffers. Bufferization sees less than there is: where it finds no order in which the carry of the
/// loops can be updated in place, the carry is copied.
LogicalResult toBuffers(OwningOpRef<ModuleOp> &module, const CpuFeatures &features, Timings &passes) {
  auto inPlace = [&](OpPassManager &pm) { buildLinalgToBuffersPipeline(pm, features); };
  std::string name = "buffers of " + nameOf(features);
  bool hasRegions =
      module
          ->walk([](Operation *op) {
            return isa<scf::WhileOp, scf::ForOp, scf::IfOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (!hasRegions)
    return runPipeline(*module, name, inPlace, passes);
  OwningOpRef<ModuleOp> before(module->clone());
  {
    ScopedDiagnosticHandler silent(module->getContext(), [](Diagnostic &) {});
    if (succeeded(runPipeline(*module, name, inPlace, passes)))
      return success();
  }
  module = std::move(before);
  auto copying = [&](OpPassManager &pm) { buildLinalgToBuffersPipeline(pm, features, /*copyCarry=*/true); };
  return runPipeline(*module, name + ", carry copied", copying, passes);
}

LogicalResult toLoops(ModuleOp module, const CpuFeatures &features, Timings &passes) {
  auto build = [&](OpPassManager &pm) { buildBuffersToLoopsPipeline(pm, features); };
  return runPipeline(module, "loops of " + nameOf(features), build, passes);
}

LogicalResult report(ModuleOp module, llvm::Error error) {
  if (!error)
    return success();
  return module.emitError(llvm::toString(std::move(error)));
}

FailureOr<HostTarget *> getTarget(ModuleOp module, const CompileOptions &options) {
  auto target = HostTarget::get(options);
  if (!target)
    return report(module, target.takeError());
  return *target;
}

/// LLVM's part, for all units at the same time.
FailureOr<std::vector<char>> generate(ModuleOp module, std::vector<Unit> &units, const BuiltLevel *built,
                                      const CompileOptions &options, Timings &timings) {
  findKnownObjects(units);
  std::mutex lock;
  llvm::Error errors = llvm::Error::success();
  auto onTarget = [&](llvm::function_ref<llvm::Error(HostTarget &, Unit &)> work) {
    forEachMissing(units, [&](Unit &unit, unsigned worker) {
      auto target = HostTarget::get(options, worker);
      llvm::Error error = target ? work(**target, unit) : target.takeError();
      std::lock_guard<std::mutex> guard(lock);
      errors = llvm::joinErrors(std::move(errors), std::move(error));
    });
    return 0;
  };
  timed(timings, "optimize", [&] {
    return onTarget([](HostTarget &target, Unit &unit) {
      target.optimize(*unit.module);
      return llvm::Error::success();
    });
  });
  timed(timings, "codegen", [&] {
    return onTarget([](HostTarget &target, Unit &unit) -> llvm::Error {
      auto bytes = target.emit(*unit.module, llvm::CodeGenFileType::ObjectFile);
      if (!bytes)
        return bytes.takeError();
      unit.object = std::make_shared<const std::vector<char>>(std::move(*bytes));
      return llvm::Error::success();
    });
  });
  if (mlir::failed(report(module, std::move(errors))))
    return failure();
  keepObjects(units);
  SmallVector<ArrayRef<char>> objects;
  for (const Unit &unit : units)
    objects.push_back(*unit.object);
  if (built)
    addBuiltObjects(units, *built, objects);
  std::vector<char> object = joinObjects(objects);
  if (mlir::failed(report(module, checkSymbols(object))))
    return failure();
  return object;
}

uint64_t arenaBytes(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto bytes = main ? main->getAttrOfType<IntegerAttr>(kArenaBytesAttr) : IntegerAttr();
  return bytes ? bytes.getInt() : 0;
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

  FailureOr<std::vector<Unit>> units =
      timed(timings, "translate", [&] { return translateToUnits(*lowered, **target); });
  if (failed(units))
    return failure();
  FailureOr<std::vector<char>> object = generate(module, *units, built, options, timings);
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

FailureOr<std::string> moduleAt(ModuleOp module, StringRef stage, const CompileOptions &options) {
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
    lowered->print(stream);
    return text;
  }
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

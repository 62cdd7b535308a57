// Shared parts of compilations for a CPU and for a GPU: bufferization, and the host's code.
#include "Stages.h"
#include "array/Entry/Entry.h"
#include "array/Pipelines/Cpu.h"
#include "array/Pipelines/Entries.h"
#include "array/Target/Stop.h"

namespace mlir::array {

std::string nameOf(const CpuFeatures &features) {
  return std::to_string(features.vectorBits) + (features.fma ? "" : " without fma") +
         (features.bfloat16Dot2 ? " with pairs" : "") + (features.hasExtrema ? " with extrema" : "") + " ahead " +
         std::to_string(features.prefetchDistance);
}

LogicalResult toBuffers(OwningOpRef<ModuleOp> &module, const CpuFeatures &features, Timings &passes) {
  auto inPlace = [&](OpPassManager &pm) { buildLinalgToBuffersPipeline(pm, features); };
  std::string name = "buffers of " + nameOf(features);
  if (!hasCarry(*module))
    return runPipeline(*module, name, inPlace, passes);
  OwningOpRef<ModuleOp> before(module->clone());
  std::vector<Diagnostic> failures;
  {
    ScopedDiagnosticHandler silent(module->getContext(),
                                   [&](Diagnostic &diagnostic) { failures.push_back(std::move(diagnostic)); });
    if (succeeded(runPipeline(*module, name, inPlace, passes)))
      return success();
  }
  tellOfCopiedCarry(*before, failures);
  module = std::move(before);
  auto copying = [&](OpPassManager &pm) { buildLinalgToBuffersPipeline(pm, features, /*copyCarries=*/true); };
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

OwningOpRef<ModuleOp> cloneForMain(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(module.clone());
  auto main = copy->lookupSymbol<func::FuncOp>("main");
  for (auto function : copy->getOps<func::FuncOp>())
    if (main && !main.isExternal() && function != main && !function.isExternal())
      function.setPrivate();
  return copy;
}

uint64_t arenaBytes(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto bytes = main ? main->getAttrOfType<IntegerAttr>(kArenaBytesAttr) : IntegerAttr();
  return bytes ? bytes.getInt() : 0;
}

namespace {

/// LLVM's part, for all units in parallel.
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
  if (mlir::failed(report(module, std::move(errors))) || isStopped(getStopFlag()))
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

} // namespace

FailureOr<std::vector<char>> toObject(ModuleOp module, const HostTarget &target, const BuiltLevel *built,
                                      const CompileOptions &options, Timings &timings) {
  FailureOr<std::vector<Unit>> units = timed(timings, "translate", [&] { return translateToUnits(module, target); });
  if (failed(units))
    return failure();
  return generate(module, *units, built, options, timings);
}

} // namespace mlir::array

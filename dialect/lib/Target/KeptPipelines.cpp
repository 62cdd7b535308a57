// The pipelines of a context are an interface of its array dialect, so they live as long as the context.
#include "KeptPipelines.h"
#include "array/IR/Array.h"
#include "array/Target/Stop.h"

#include "mlir/IR/DialectInterface.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <chrono>
#include <map>

namespace mlir::array {

namespace {

/// The results of running a pipeline.
struct Notes {
  Timings passes;
  std::string failed; ///< the first pass that did
};

struct NoteTaker : PassInstrumentation {
  explicit NoteTaker(Notes &notes) : notes(notes) {}

  void runBeforePass(Pass *pass, Operation *) override { starts[pass] = std::chrono::steady_clock::now(); }
  void runAfterPass(Pass *pass, Operation *) override {
    // The pass that runs passes of nested operations has no name.
    if (pass->getArgument().empty())
      return;
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - starts.lookup(pass);
    notes.passes.emplace_back(pass->getArgument().str(), elapsed.count());
  }
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (notes.failed.empty())
      notes.failed = (pass->getArgument().empty() ? pass->getName() : pass->getArgument()).str();
  }

  Notes &notes;
  DenseMap<Pass *, std::chrono::steady_clock::time_point> starts;
};

/// Fails if the compilation was asked to stop.
struct StopPass : PassWrapper<StopPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StopPass)
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (isStopped(getStopFlag()))
      signalPassFailure();
  }
  /// Only passes may copy passes.
  static std::unique_ptr<Pass> copyOf(const Pass &pass) { return (pass.*(&StopPass::clone))(); }
};

struct KeptPipeline {
  KeptPipeline(MLIRContext *context, llvm::function_ref<void(OpPassManager &)> build)
      : manager(context, ModuleOp::getOperationName()) {
    // The input was verified, and every pass has tests that verify its output.
    manager.enableVerifier(false);
    OpPassManager built(ModuleOp::getOperationName());
    build(built);
    for (Pass &pass : built.getPasses()) {
      manager.addPass(StopPass::copyOf(pass));
      if (getStopFlag()) // not in a tool, which may print the module after each pass
        manager.addPass(std::make_unique<StopPass>());
    }
    // In a tool with MLIR's flags, the flags apply to these pipelines, too (--mlir-print-ir-after-all). Without these
    // flags, the call fails. With them, array-opt has already applied them to its own passes and reported errors.
    (void)applyPassManagerCLOptions(manager);
    applyDefaultTimingPassManagerCLOptions(manager);
    manager.addInstrumentation(std::make_unique<NoteTaker>(notes));
  }

  Notes notes;
  PassManager manager;
};

/// One thread at a time builds pipelines and compiles modules of a context.
struct KeptPipelines : DialectInterface::Base<KeptPipelines> {
  explicit KeptPipelines(Dialect *dialect) : Base(dialect) {}

  mutable std::map<std::string, std::unique_ptr<KeptPipeline>> byName;
};

KeptPipeline &getPipeline(MLIRContext *context, StringRef name, llvm::function_ref<void(OpPassManager &)> build) {
  auto *dialect = context->getOrLoadDialect<ArrayDialect>();
  if (!dialect->getRegisteredInterface<KeptPipelines>())
    dialect->addInterface(std::make_unique<KeptPipelines>(dialect));
  auto &kept = dialect->getRegisteredInterface<KeptPipelines>()->byName[name.str()];
  if (!kept)
    kept = std::make_unique<KeptPipeline>(context, build);
  return *kept;
}

} // namespace

LogicalResult runPipeline(ModuleOp module, StringRef name, llvm::function_ref<void(OpPassManager &)> build,
                          Timings &passes) {
  KeptPipeline &pipeline = getPipeline(module.getContext(), name, build);
  pipeline.notes = {};
  bool explained = false;
  LogicalResult result = failure();
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      explained |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return failure(); // for the handlers around this one
    });
    result = pipeline.manager.run(module);
  }
  llvm::append_range(passes, pipeline.notes.passes);
  if (failed(result) && !explained)
    module.emitError("the pass ") << pipeline.notes.failed << " failed";
  return result;
}

} // namespace mlir::array

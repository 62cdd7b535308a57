// array-give-buffers runs the passes of buildLinalgToBuffersPipeline. It first updates carries of loops in place. If
// bufferization finds no order for that, it copies the carries. lib/Target does the same with pass managers that it
// keeps.
#include "array/Analysis/GivenUp.h"
#include "array/Pipelines/Entries.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::array {

bool hasCarry(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        return isa<scf::WhileOp, scf::ForOp, scf::IfOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void tellOfCopiedCarry(ModuleOp module, const std::vector<Diagnostic> &failures) {
  Location loc = failures.empty() ? module.getLoc() : failures.front().getLocation();
  std::string why = failures.empty() ? "bufferization failed" : failures.front().str();
  tellGivenUp(loc, "copied-carry",
              "the carry of loops and branches is copied, since no order in place was found: " + why);
}

namespace {

struct GiveBuffers : PassWrapper<GiveBuffers, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GiveBuffers)
  GiveBuffers() = default;
  GiveBuffers(const GiveBuffers &other) : PassWrapper(other) {}
  explicit GiveBuffers(const CpuFeatures &features) {
    bfloat16Dot2 = features.bfloat16Dot2;
    narrowFactors = features.narrowFactors;
  }

  StringRef getArgument() const override { return "array-give-buffers"; }
  StringRef getDescription() const override { return "Fuse, and compute in buffers; copy carries if necessary"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerPipelineDialects(registry); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool mayFail = hasCarry(module);
    OwningOpRef<ModuleOp> before(mayFail ? module.clone() : ModuleOp());
    if (!mayFail) {
      if (failed(run(/*copyCarries=*/false)))
        signalPassFailure();
      return;
    }
    std::vector<Diagnostic> failures;
    {
      ScopedDiagnosticHandler silent(&getContext(),
                                     [&](Diagnostic &diagnostic) { failures.push_back(std::move(diagnostic)); });
      if (succeeded(run(/*copyCarries=*/false)))
        return;
    }
    tellOfCopiedCarry(module, failures);
    module.getBodyRegion().takeBody(before->getBodyRegion());
    module->setAttrs((*before)->getAttrDictionary());
    if (failed(run(/*copyCarries=*/true)))
      signalPassFailure();
  }

  LogicalResult run(bool copyCarries) {
    CpuFeatures features;
    features.bfloat16Dot2 = bfloat16Dot2;
    features.narrowFactors = narrowFactors;
    OpPassManager passes(ModuleOp::getOperationName());
    buildLinalgToBuffersPipeline(passes, features, copyCarries);
    return runPipeline(passes, getOperation());
  }

  Option<bool> bfloat16Dot2{*this, "bfloat16-dot2", llvm::cl::desc("The machine multiplies pairs of bf16"),
                            llvm::cl::init(false)};
  Option<bool> narrowFactors{*this, "narrow-factors", llvm::cl::desc("Narrow factors are multiplied directly"),
                             llvm::cl::init(false)};
};

} // namespace

std::unique_ptr<Pass> createGiveBuffers(const CpuFeatures &features) { return std::make_unique<GiveBuffers>(features); }

void registerEntryPasses() {
  PassRegistration<GiveBuffers>();
  registerPass([] { return createSeparateEntries(); });
  registerPass([] { return createJoinEntries(); });
}

} // namespace mlir::array

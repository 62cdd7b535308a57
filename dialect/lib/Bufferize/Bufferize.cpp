// array-eliminate-empty-tensors and array-bufferize: upstream's passes with the analysis of InPlaceAnalysis.cpp. After
// array-in-place-carries; array-forward-copies follows. The option short-program is for tests: in programs of at most
// that many operations on tensors, upstream's analysis decides everything. Its time matters in longer programs alone.
#include "array/Bufferize/Bufferize.h"
#include "InPlaceAnalysis.h"
#include "array/Analysis/GivenUp.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::array {

using namespace bufferization;

namespace {

constexpr int64_t shortProgram = 48;

/// Copies of fewer bytes take negligible time.
constexpr int64_t leastToldBytes = 4096;

/// Emits a remark for each array that is copied because it is read after an operation that would overwrite it.
void tellOfCopies(Operation *root) {
  if (!root->getContext()->getRemarkEngine())
    return;
  root->walk([](AllocTensorOp made) {
    RankedTensorType type = dyn_cast<RankedTensorType>(made.getType());
    if (!made.getCopy() || !type || made->use_empty())
      return;
    Type element = type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    if (type.hasStaticShape() && element.isIntOrFloat() &&
        type.getNumElements() < leastToldBytes * 8 / element.getIntOrFloatBitWidth())
      return;
    std::string text;
    llvm::raw_string_ostream(text) << type << " is copied before " << made->user_begin()->getName()
                                   << " changes it: its former value is still needed";
    tellGivenUp(made.getLoc(), "copied-operand", text);
  });
}

struct EliminateEmptyTensors : PassWrapper<EliminateEmptyTensors, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EliminateEmptyTensors)
  EliminateEmptyTensors() = default;
  EliminateEmptyTensors(const EliminateEmptyTensors &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "array-eliminate-empty-tensors"; }
  StringRef getDescription() const override { return "Compute inserted values at their destination"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<tensor::TensorDialect>(); }

  void runOnOperation() override {
    OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    OneShotAnalysisState state(getOperation(), options);
    IRRewriter rewriter(&getContext());
    if (failed(analyzeInPlace(getOperation(), state, least)) ||
        failed(eliminateEmptyTensors(rewriter, getOperation(), state)))
      signalPassFailure();
  }

  Option<int64_t> least{*this, "short-program", llvm::cl::desc("Operations that upstream's analysis decides on alone"),
                        llvm::cl::init(shortProgram)};
};

struct Bufferize : PassWrapper<Bufferize, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Bufferize)
  Bufferize() = default;
  Bufferize(const Bufferize &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "array-bufferize"; }
  StringRef getDescription() const override { return "Give tensors buffers, and compute in place"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<BufferizationDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    OneShotBufferizationOptions options;
    BufferizationState buffers;
    {
      OneShotAnalysisState state(getOperation(), options);
      if (failed(analyzeInPlace(getOperation(), state, least)) ||
          failed(insertTensorCopies(getOperation(), state, buffers)))
        return signalPassFailure();
      tellOfCopies(getOperation());
    }
    if (failed(bufferizeOp(getOperation(), options, buffers)))
      signalPassFailure();
  }

  Option<int64_t> least{*this, "short-program", llvm::cl::desc("Operations that upstream's analysis decides on alone"),
                        llvm::cl::init(shortProgram)};
};

} // namespace

std::unique_ptr<Pass> createEliminateEmptyTensors() { return std::make_unique<EliminateEmptyTensors>(); }

std::unique_ptr<Pass> createBufferize() { return std::make_unique<Bufferize>(); }

void registerBufferizePasses() {
  PassRegistration<EliminateEmptyTensors>();
  PassRegistration<Bufferize>();
}

} // namespace mlir::array

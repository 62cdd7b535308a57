// array-eliminate-empty-tensors and array-bufferize: upstream's passes with the analysis of InPlaceAnalysis.cpp. After
// array-in-place-carries; array-forward-copies follows. The option short-program is for tests: in programs of at most
// that many operations on tensors, upstream's analysis decides everything. Its time matters only in longer programs.
#include "array/Bufferize/Bufferize.h"
#include "DestinationSlices.h"
#include "InPlaceAnalysis.h"
#include "InPlaceCarries.h"
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

/// The operation after a copy that changes a part of the new buffer; null if none does.
Operation *changeAfter(memref::CopyOp copy) {
  for (Operation *user : copy.getTarget().getUsers()) {
    Operation *outer = copy->getBlock()->findAncestorOpInBlock(*user);
    auto computed = dyn_cast<DestinationStyleOpInterface>(user);
    bool mayChange = isa<memref::SubViewOp, memref::StoreOp>(user) ||
                     (computed && llvm::is_contained(computed.getDpsInits(), copy.getTarget()));
    if (mayChange && outer && copy->isBeforeInBlock(outer))
      return user;
  }
  return nullptr;
}

/// Remarks for each array that is copied because its former value is read after the operation that would overwrite it.
void tellOfCopies(Operation *root) {
  if (!root->getContext()->getRemarkEngine())
    return;
  root->walk([](memref::CopyOp copy) {
    auto type = cast<MemRefType>(copy.getTarget().getType());
    Type element = type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    bool isSmall = type.hasStaticShape() && element.isIntOrFloat() &&
                   type.getNumElements() < leastToldBytes * 8 / element.getIntOrFloatBitWidth();
    if (isSmall || copy.getSource() == copy.getTarget() || copy.getTarget().getDefiningOp<memref::SubViewOp>())
      return;
    Operation *change = changeAfter(copy);
    if (!change)
      return;
    std::string text;
    llvm::raw_string_ostream(text) << "a buffer of " << type << " is copied before a part of it changes: its former "
                                   << "value is still needed";
    tellGivenUp(change->getLoc(), "copied-operand", text);
  });
}

/// The tensor into which parts are inserted first.
Value startOf(Value tensor) {
  while (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    tensor = insert.getDest();
  return tensor;
}

/// Moves an empty tensor before everything that could be computed in its place.
void moveToStart(Value tensor) {
  auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
  if (empty && empty->getNumOperands() == 0)
    empty->moveBefore(empty->getBlock(), empty->getBlock()->begin());
}

struct EliminateEmptyTensors : PassWrapper<EliminateEmptyTensors, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EliminateEmptyTensors)
  EliminateEmptyTensors() = default;
  EliminateEmptyTensors(const EliminateEmptyTensors &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "array-eliminate-empty-tensors"; }
  StringRef getDescription() const override { return "Compute inserted values at their destination"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<tensor::TensorDialect>(); }

  void runOnOperation() override {
    IRRewriter plain(&getContext());
    prepare::computePartsInPlace(plain, getOperation());
    OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    OneShotAnalysisState state(getOperation(), options);
    if (failed(analyzeInPlace(getOperation(), state, least)))
      return signalPassFailure();
    // Results first: the parts that are inserted into one are then computed in its buffer. Otherwise the first part
    // would be in a temporary of the size of the result.
    SmallVector<MaterializeInDestinationOp> results;
    getOperation()->walk([&](MaterializeInDestinationOp result) { results.push_back(result); });
    for (MaterializeInDestinationOp result : results)
      moveToStart(startOf(result.getSource()));
    BlockOrder order;
    IRRewriter rewriter(&getContext(), &order);
    auto slice = [&](RewriterBase &b, SubsetInsertionOpInterface insertion, tensor::EmptyOp empty, Operation *user) {
      return sliceOfDestination(b, order, insertion, empty, user);
    };
    for (MaterializeInDestinationOp result : results)
      if (failed(eliminateEmptyTensors(rewriter, result, state, slice)))
        return signalPassFailure();
    if (failed(eliminateEmptyTensors(rewriter, getOperation(), state, slice)))
      signalPassFailure();
  }

  Option<int64_t> least{*this, "short-program",
                        llvm::cl::desc("Maximum number of operations that upstream's analysis alone handles"),
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
    }
    if (failed(bufferizeOp(getOperation(), options, buffers)))
      return signalPassFailure();
    tellOfCopies(getOperation());
  }

  Option<int64_t> least{*this, "short-program",
                        llvm::cl::desc("Maximum number of operations that upstream's analysis alone handles"),
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

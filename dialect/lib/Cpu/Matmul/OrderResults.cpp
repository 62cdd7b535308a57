// array-order-results: a contraction that stays a loop stores its result in the order of its one reader, if the reader
// only changes the order, such as `vmap(lambda x: w @ x)` of matrices with few columns. Matmuls that are blocked do so
// by themselves (array-lower-matmuls). Runs before array-fuse-elementwise.
#include "array/Analysis/MatmulWorth.h"
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_ORDERRESULTS
#include "array/Cpu/Passes.h.inc"

namespace {

/// The rows of a factor beside the terms: the loops of its own that lie inside of the terms in memory, or all if the
/// terms come last. Those outside are a batch then.
int64_t rowsBesideTerms(linalg::LinalgOp op, OpOperand &factor, OpOperand &other) {
  AffineMap map = op.getMatchingIndexingMap(&factor), otherMap = op.getMatchingIndexingMap(&other);
  auto kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t outside = 1, inside = 1;
  bool sawTerms = false;
  for (AffineExpr expr : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (kinds[loop] == utils::IteratorType::reduction)
      sawTerms = true;
    else if (!otherMap.isFunctionOfDim(loop))
      (sawTerms ? inside : outside) *= sizes[loop];
  }
  return inside == 1 ? outside : inside;
}

/// Whether the contraction becomes loops.
bool staysLoop(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (llvm::is_contained(sizes, ShapedType::kDynamic) ||
      llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) { return !map.isProjectedPermutation(); }))
    return false;
  int64_t terms = 1;
  for (auto [size, kind] : llvm::zip_equal(sizes, op.getIteratorTypesArray()))
    terms *= kind == utils::IteratorType::reduction ? size : 1;
  OpOperand &left = *op.getDpsInputOperand(0), &right = *op.getDpsInputOperand(1);
  return !isWorthBlocking(rowsBesideTerms(op, left, right), rowsBesideTerms(op, right, left), terms);
}

/// The map from the elements of the operand to those of the result, for an op that only changes the order.
std::optional<AffineMap> orderOf(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      op.getBody()->getTerminator()->getOperand(0) != op.getBody()->getArgument(0))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[0].isPermutation() || !maps[1].isPermutation())
    return std::nullopt;
  AffineMap order = maps[1].compose(inversePermutation(maps[0]));
  return order.isIdentity() ? std::nullopt : std::optional(order);
}

void reorder(RewriterBase &rewriter, linalg::GenericOp reader) {
  std::optional<AffineMap> order = orderOf(reader);
  auto op = order ? reader.getInputs()[0].getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  if (!op || !op->hasOneUse() || op->getNumResults() != 1 || op.getNumDpsInputs() != 2 ||
      op->getBlock() != reader->getBlock() || !linalg::isaContractionOpInterface(op) || !op.hasPureTensorSemantics() ||
      !staysLoop(op))
    return;
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !fill->hasOneUse())
    return;
  rewriter.setInsertionPoint(fill);
  auto type = cast<RankedTensorType>(reader->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(rewriter, fill.getLoc(), type.getShape(), type.getElementType());
  Value filled = linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs(), empty).getResult(0);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = order->compose(maps.back());
  rewriter.setInsertionPoint(op);
  auto ordered =
      linalg::GenericOp::create(rewriter, op.getLoc(), type, op.getInputs(), filled, maps, op.getIteratorTypesArray());
  ordered->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), ordered.getRegion(), ordered.getRegion().begin());
  rewriter.replaceOp(reader, ordered.getResults());
  rewriter.eraseOp(op);
  rewriter.eraseOp(fill);
}

struct OrderResults : impl::OrderResultsBase<OrderResults> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> readers;
    getOperation().walk([&](linalg::GenericOp op) { readers.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp reader : readers)
      reorder(rewriter, reader);
  }
};

} // namespace
} // namespace mlir::array

// array-join-rows: a factor whose rows stand on both sides of the terms, such as an image's lines and channels beside
// its columns, is transposed if the inner rows are few. Then all its rows are one dimension of a matmul. Else each
// group of inner rows would be a matmul of its own, of fewer rows than a tile has. Runs after array-widen-matmuls, and
// before array-fuse-elementwise.
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_JOINROWS
#include "array/Cpu/Passes.h.inc"

namespace {

/// The maximum number of inner rows. More of them fill the tiles of their own matmuls.
constexpr int64_t mostRows = 8;
/// The minimum number of terms, and of columns. A transposition costs as much as some terms of each row.
constexpr int64_t leastSide = 8;

struct Factor {
  OpOperand *operand;
  SmallVector<int64_t> order; ///< the dimensions of the operand, the terms last
};

/// The product of the sizes of `dims`; none if one is symbolic.
std::optional<int64_t> productOf(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (ShapedType::isDynamic(sizes[dim]))
      return std::nullopt;
    product *= sizes[dim];
  }
  return product;
}

/// The order of an operand that is outer rows, terms, inner rows; none if it is not, or if it stays.
std::optional<Factor> findFactor(linalg::LinalgOp op, OpOperand &operand, OpOperand &other) {
  AffineMap map = op.getMatchingIndexingMap(&operand), otherMap = op.getMatchingIndexingMap(&other);
  auto type = dyn_cast<RankedTensorType>(operand.get().getType()),
       otherType = dyn_cast<RankedTensorType>(other.get().getType());
  if (!type || !otherType || !map.isProjectedPermutation() || !otherMap.isProjectedPermutation())
    return std::nullopt;
  ArrayRef<int64_t> sizes = type.getShape();
  auto kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> outer, terms, inner, order;
  for (int64_t dim : llvm::seq(type.getRank())) {
    unsigned loop = map.getDimPosition(dim);
    if (kinds[loop] == utils::IteratorType::reduction) {
      if (!inner.empty())
        return std::nullopt;
      terms.push_back(dim);
    } else if (!terms.empty()) {
      if (otherMap.isFunctionOfDim(loop))
        return std::nullopt;
      inner.push_back(dim);
    } else {
      if (!otherMap.isFunctionOfDim(loop))
        outer.push_back(dim);
      order.push_back(dim);
    }
  }
  std::optional<int64_t> rows = productOf(sizes, inner), length = productOf(sizes, terms);
  bool hasOuter = productOf(sizes, outer).value_or(ShapedType::kDynamic) != 1;
  if (!rows || *rows == 1 || *rows > mostRows || !length || *length < leastSide || !hasOuter)
    return std::nullopt;
  int64_t columns = 1;
  for (auto [dim, size] : llvm::enumerate(otherType.getShape())) {
    unsigned loop = otherMap.getDimPosition(dim);
    if (kinds[loop] == utils::IteratorType::parallel && !map.isFunctionOfDim(loop))
      columns *= ShapedType::isDynamic(size) ? leastSide : size;
  }
  if (columns < leastSide)
    return std::nullopt;
  llvm::append_range(order, inner);
  llvm::append_range(order, terms);
  return Factor{&operand, std::move(order)};
}

std::optional<Factor> findFactor(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp>(op) || !linalg::isaContractionOpInterface(op) || !op.hasPureTensorSemantics() ||
      op->getNumResults() != 1 || op.getNumDpsInputs() != 2)
    return std::nullopt;
  OpOperand &left = *op.getDpsInputOperand(0), &right = *op.getDpsInputOperand(1);
  std::optional<Factor> found = findFactor(op, left, right);
  return found ? found : findFactor(op, right, left);
}

/// Reads a transposed copy instead.
void transpose(RewriterBase &rewriter, linalg::GenericOp op, const Factor &factor) {
  Location loc = op.getLoc();
  Value source = factor.operand->get();
  auto type = cast<RankedTensorType>(source.getType());
  AffineMap map = op.getMatchingIndexingMap(factor.operand);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, source), ordered;
  SmallVector<AffineExpr> reads(type.getRank()), results;
  for (auto [place, dim] : llvm::enumerate(factor.order)) {
    ordered.push_back(sizes[dim]);
    reads[dim] = rewriter.getAffineDimExpr(place);
    results.push_back(map.getResult(dim));
  }
  Value empty = tensor::EmptyOp::create(rewriter, loc, ordered, type.getElementType());
  AffineMap maps[] = {AffineMap::get(type.getRank(), 0, reads, op.getContext()),
                      rewriter.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), source, empty, maps, loops,
      [](OpBuilder &b, Location loc, ValueRange elements) { linalg::YieldOp::create(b, loc, elements.front()); });
  SmallVector<AffineMap> indexing = op.getIndexingMapsArray();
  unsigned number = factor.operand->getOperandNumber();
  indexing[number] = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(number, copy.getResult(0));
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(indexing));
  });
}

struct JoinRows : impl::JoinRowsBase<JoinRows> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<Factor> factor = findFactor(op)) {
        rewriter.setInsertionPoint(op);
        transpose(rewriter, op, *factor);
      }
    });
  }
};

} // namespace
} // namespace mlir::array

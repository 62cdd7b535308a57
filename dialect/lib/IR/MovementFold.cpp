// Folders and canonicalizations of the movement ops: an op without effect is replaced by its operand, and two movements
// become one.
#include "Constants.h"
#include "Inference.h"
#include "array/IR/Precision.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::array;

static bool isAll(ArrayRef<int64_t> numbers, int64_t number) {
  return llvm::all_of(numbers, [=](int64_t n) { return n == number; });
}

static bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::all_of(llvm::enumerate(permutation), [](auto entry) { return int64_t(entry.index()) == entry.value(); });
}

/// If the array is empty, a dynamic size does not follow from the number of elements.
static bool isKnownEmpty(RankedTensorType type) { return llvm::is_contained(type.getShape(), 0); }

/// Whether both have the same shape by their types.
static bool haveSameKnownType(Type operand, Type result) {
  return operand == result && cast<RankedTensorType>(result).hasStaticShape();
}

//===----------------------------------------------------------------------===//
// broadcast_in_dim
//===----------------------------------------------------------------------===//

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor adaptor) {
  if (haveSameKnownType(getOperand().getType(), getType()))
    return getOperand();
  return resizedSplat(adaptor.getOperand(), getType());
}

/// The dimension of `reshaped` that each dimension of `source` becomes, if the reshape only adds or drops dimensions of
/// size 1. A dropped one gets -1. One dynamic size follows from the number of elements; several do not.
static std::optional<SmallVector<int64_t>> matchUnitReshape(RankedTensorType source, RankedTensorType reshaped) {
  if (source.getNumDynamicDims() != reshaped.getNumDynamicDims() || source.getNumDynamicDims() > 1 ||
      (source.getNumDynamicDims() == 1 && isKnownEmpty(source)))
    return std::nullopt;
  SmallVector<int64_t> targets;
  int64_t next = 0;
  for (int64_t size : source.getShape()) {
    if (size == 1) {
      targets.push_back(-1);
      continue;
    }
    while (next < reshaped.getRank() && reshaped.getDimSize(next) == 1)
      ++next;
    if (next == reshaped.getRank() || reshaped.getDimSize(next) != size)
      return std::nullopt;
    targets.push_back(next++);
  }
  if (source.getNumDynamicDims() == 1 &&
      llvm::any_of(reshaped.getShape().drop_front(next), [](int64_t size) { return size != 1; }))
    return std::nullopt;
  return targets;
}

namespace {

struct BroadcastOfBroadcast : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    // Without output_dims, a dynamic size of the result may be an operand of the inner op.
    if (!inner || (op.getOutputDims().empty() && !op.getType().hasStaticShape()))
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getBroadcastDimensions())
      dims.push_back(op.getBroadcastDimensions()[dim]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dims, op.getOutputDims());
    return success();
  }
};

/// x[4] -> x[4, 1] -> x[4, 5], for example from keepdims, is one broadcast. It fuses, while a reshape would not.
struct BroadcastOfUnitReshape : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!reshape)
      return failure();
    auto targets = matchUnitReshape(reshape.getOperand().getType(), reshape.getType());
    // A dropped dimension of size 1 would need a place in the result.
    if (!targets || llvm::is_contained(*targets, -1))
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t target : *targets)
      dims.push_back(op.getBroadcastDimensions()[target]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), reshape.getOperand(), dims, op.getOutputDims());
    return success();
  }
};

} // namespace

void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<BroadcastOfBroadcast, BroadcastOfUnitReshape>(context);
}

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  RankedTensorType type = getType();
  if (getOperand().getType() == type && type.getNumDynamicDims() <= 1 && (type.hasStaticShape() || !isKnownEmpty(type)))
    return getOperand();
  if (!type.hasStaticShape())
    return {};
  auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand());
  return constant ? OpFoldResult(constant.reshape(type)) : OpFoldResult();
}

namespace {

struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand(), op.getOutputDims());
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeOfReshape>(context);
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentity(getPermutation()) && getOperand().getType() == getType())
    return getOperand();
  return resizedSplat(adaptor.getOperand(), getType());
}

namespace {

struct TransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getOperand(), permutation);
    return success();
  }
};

/// (x . y)^T is y^T . x^T, and dot_general reads its operands in any order: the free dimensions are exchanged with the
/// operands. Derivatives of matmuls end in such a transpose.
struct TransposeOfDotGeneral : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getOperand().getDefiningOp<DotGeneralOp>();
    if (!dot || !dot->hasOneUse())
      return failure();
    int64_t batch = dot.getLhsBatch().size(), rank = dot.getType().getRank();
    int64_t rhsFree = dot.getRhs().getType().getRank() - batch - int64_t(dot.getRhsContracting().size());
    SmallVector<int64_t> swap;
    llvm::append_range(swap, llvm::seq<int64_t>(0, batch));
    llvm::append_range(swap, llvm::seq<int64_t>(rank - rhsFree, rank));
    llvm::append_range(swap, llvm::seq<int64_t>(batch, rank - rhsFree));
    if (op.getPermutation() != ArrayRef(swap))
      return failure();
    auto swapped =
        DotGeneralOp::create(rewriter, op.getLoc(), op.getType(), dot.getRhs(), dot.getLhs(), dot.getRhsContracting(),
                             dot.getLhsContracting(), dot.getRhsBatch(), dot.getLhsBatch());
    handOnPrecision(dot, swapped);
    rewriter.replaceOp(op, swapped);
    return success();
  }
};

/// Whether a transpose of this shape moves only dimensions of one element, so that it is a reshape.
bool movesOnlyUnits(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t dim : permutation) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return !llvm::is_contained(shape, ShapedType::kDynamic);
}

/// The transpose of a stack of parts is a stack along the moved dimension, if each part's is a reshape: the components
/// of a vector in the last dimension, moved to the first.
struct TransposeOfConcatenate : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto stack = op.getOperand().getDefiningOp<ConcatenateOp>();
    ArrayRef<int64_t> permutation = op.getPermutation();
    if (!stack || !stack->hasOneUse() || !llvm::all_of(stack.getInputs(), [&](Value part) {
          return movesOnlyUnits(cast<RankedTensorType>(part.getType()).getShape(), permutation);
        }))
      return failure();
    SmallVector<Value> parts;
    for (Value part : stack.getInputs()) {
      auto type = cast<RankedTensorType>(part.getType());
      RankedTensorType moved = type.clone(applyPermutation(type.getShape(), permutation));
      parts.push_back(ReshapeOp::create(rewriter, op.getLoc(), moved, part, ValueRange()));
    }
    int64_t dim = llvm::find(permutation, int64_t(stack.getDimension())) - permutation.begin();
    rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), parts, dim);
    return success();
  }
};

/// An element of a transposed dimension is a slice of the operand, if the transpose of that slice is a reshape.
struct SliceOfTranspose : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getOperand().getDefiningOp<TransposeOp>();
    if (!transpose || !op.getSizes().empty() || !op.getType().hasStaticShape())
      return failure();
    SmallVector<int64_t> inverse = invertPermutationVector(transpose.getPermutation());
    SmallVector<int64_t> shape = applyPermutation(op.getType().getShape(), inverse);
    if (!movesOnlyUnits(shape, transpose.getPermutation()))
      return failure();
    Value part = SliceOp::create(rewriter, op.getLoc(), op.getType().clone(shape), transpose.getOperand(),
                                 applyPermutation(op.getStartIndices(), inverse),
                                 applyPermutation(op.getLimitIndices(), inverse),
                                 applyPermutation(op.getStrides(), inverse), ValueRange());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), part, ValueRange());
    return success();
  }
};

} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TransposeOfTranspose, TransposeOfDotGeneral, TransposeOfConcatenate>(context);
}

//===----------------------------------------------------------------------===//
// slice, pad, concatenate, reverse
//===----------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (haveSameKnownType(getOperand().getType(), getType()))
    return getOperand();
  return resizedSplat(adaptor.getOperand(), getType());
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfTranspose>(context);
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  bool addsNothing = isAll(getLow(), 0) && isAll(getHigh(), 0) && isAll(getInterior(), 0);
  return addsNothing && getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  bool isSingle = getInputs().size() == 1 && getInputs().front().getType() == getType();
  return isSingle ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() != getType())
    return {};
  if (llvm::all_of(getDimensions(), [&](int64_t dim) { return getType().getDimSize(dim) == 1; }))
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReverseOp>();
      inner && inner.getDimensions() == getDimensions() && inner.getOperand().getType() == getType())
    return inner.getOperand();
  return resizedSplat(adaptor.getOperand(), getType());
}

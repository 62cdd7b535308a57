// cumsum, cumprod, cummax, cummin, cumlogsumexp: inference, and lines of equal elements.
#include "Inference.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::array;

LogicalResult array::inferCumulative(std::optional<Location> location, StringRef op, Type operand, int64_t axis,
                                     SmallVectorImpl<Type> &inferred) {
  auto tensor = cast<RankedTensorType>(operand);
  if (axis < 0 || axis >= tensor.getRank())
    return fail(location, op, "axis is ", axis, ", expected a dimension of ", tensor, " (C1)");
  inferred.push_back(tensor);
  return success();
}

/// The maximum depth of elementwise operations before a running sum that are looked through. The gradient of a sum of
/// complex running sums has three.
static constexpr unsigned maxDepth = 4;

/// Whether all elements of each line along a dimension are known to be equal.
static bool isRepeatedAlong(Value value, int64_t axis, unsigned depth = 0) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat();
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<AddOp, SubOp, MulOp, NegOp, ComplexOp, RealOp, ImagOp, ConvertOp>(op))
    return depth < maxDepth &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isRepeatedAlong(operand, axis, depth + 1); });
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast)
    return false;
  return llvm::all_of(llvm::enumerate(broadcast.getBroadcastDimensions()), [&](auto entry) {
    return entry.value() != axis || broadcast.getOperand().getType().getDimSize(entry.index()) == 1;
  });
}

OpFoldResult CummaxOp::fold(FoldAdaptor) {
  return isRepeatedAlong(getOperand(), getAxis()) ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult CumminOp::fold(FoldAdaptor) {
  return isRepeatedAlong(getOperand(), getAxis()) ? OpFoldResult(getOperand()) : OpFoldResult();
}

namespace {

/// The running sum of equal elements is the element times its place, which is rounded once and fuses. The gradient of a
/// sum of running sums is one.
struct CumsumOfEqualElements : OpRewritePattern<CumsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CumsumOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    auto complex = dyn_cast<ComplexType>(type.getElementType());
    Type element = complex ? complex.getElementType() : type.getElementType();
    int64_t axis = op.getAxis();
    // Elements of less than 32 bits may not hold the places.
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 32 || !type.hasStaticShape() ||
        type.getDimSize(axis) >= INT32_MAX || !isRepeatedAlong(op.getOperand(), axis))
      return failure();
    RankedTensorType ofPlaces = type.clone(rewriter.getI32Type());
    auto constant = [&](int64_t number) -> Value {
      return ConstantOp::create(rewriter, op.getLoc(), ofPlaces,
                                DenseElementsAttr::get(ofPlaces, static_cast<int32_t>(number)));
    };
    Value index = IotaOp::create(rewriter, op.getLoc(), ofPlaces, axis, ValueRange());
    Value place = op.getReverse() ? Value(SubOp::create(rewriter, op.getLoc(), constant(type.getDimSize(axis)), index))
                                  : Value(AddOp::create(rewriter, op.getLoc(), index, constant(1)));
    Value factor = ConvertOp::create(rewriter, op.getLoc(), type.clone(element), place);
    if (!complex) {
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getOperand(), factor);
      return success();
    }
    // A complex product with the place would also multiply each part by 0, which is nan for an infinite one.
    Value re = MulOp::create(rewriter, op.getLoc(), RealOp::create(rewriter, op.getLoc(), op.getOperand()), factor);
    Value im = MulOp::create(rewriter, op.getLoc(), ImagOp::create(rewriter, op.getLoc(), op.getOperand()), factor);
    rewriter.replaceOpWithNewOp<ComplexOp>(op, re, im);
    return success();
  }
};

/// The longest lines that become elementwise operations, which fuse: longer ones would need more registers than there
/// are.
constexpr int64_t shortLine = 4;

/// The type that the library routine accumulates in, so that a short line has the bits of a long one.
Type wideOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return ComplexType::get(wideOf(complex.getElementType()));
  return isa<FloatType>(element) ? Float64Type::get(element.getContext()) : element;
}

/// Short lines: each element is an operation on a slice and the element before it.
template <typename Op, typename Combine, bool accumulates> struct CumulativeOfShortLine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    int64_t axis = op.getAxis(), length = type.getDimSize(axis), rank = type.getRank();
    if (!type.hasStaticShape() || length < 2 || length > shortLine)
      return failure();
    Location loc = op.getLoc();
    Type element = type.getElementType(), wide = accumulates ? wideOf(element) : element;
    SmallVector<int64_t> shape(type.getShape()), starts(rank, 0), limits(shape), strides(rank, 1);
    shape[axis] = 1;
    RankedTensorType part = type.clone(shape);
    SmallVector<Value> results(length);
    Value before;
    for (int64_t step : llvm::seq<int64_t>(0, length)) {
      int64_t at = op.getReverse() ? length - 1 - step : step;
      starts[axis] = at;
      limits[axis] = at + 1;
      Value value = SliceOp::create(rewriter, loc, part, op.getOperand(), starts, limits, strides, ValueRange());
      results[at] = value;
      if (wide != element)
        value = ConvertOp::create(rewriter, loc, part.clone(wide), value);
      if (before)
        value = Combine::create(rewriter, loc, before, value);
      before = value;
      if (step > 0)
        results[at] = wide == element ? value : Value(ConvertOp::create(rewriter, loc, part, value));
    }
    rewriter.replaceOpWithNewOp<ConcatenateOp>(op, type, results, axis);
    return success();
  }
};

} // namespace

void CumsumOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CumsumOfEqualElements, CumulativeOfShortLine<CumsumOp, AddOp, true>>(context);
}

void CumprodOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CumulativeOfShortLine<CumprodOp, MulOp, true>>(context);
}

void CummaxOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CumulativeOfShortLine<CummaxOp, MaxOp, false>>(context);
}

void CumminOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CumulativeOfShortLine<CumminOp, MinOp, false>>(context);
}

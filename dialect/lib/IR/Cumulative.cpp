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

} // namespace

void CumsumOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CumsumOfEqualElements>(context);
}

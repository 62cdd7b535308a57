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

/// Whether all elements of each line along a dimension are known to be equal.
static bool isRepeatedAlong(Value value, int64_t axis) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat();
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
    Type element = type.getElementType();
    int64_t axis = op.getAxis();
    // Elements of less than 32 bits may not hold the places, and complex ones have no conversion from them.
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
    Value factor = ConvertOp::create(rewriter, op.getLoc(), type, place);
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getOperand(), factor);
    return success();
  }
};

} // namespace

void CumsumOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CumsumOfEqualElements>(context);
}

// cumsum, cumprod, cummax, cummin, cumlogsumexp: the library routine `cumulative`, or an elementwise product.
#include "Lowering.h"
#include "runtime/Accumulations.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::array;
using pcrt::Accumulation;

/// Whether all elements along a dimension are known to be equal.
static bool isRepeatedAlong(Value value, int64_t axis) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat();
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast)
    return false;
  for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (to == axis)
      return broadcast.getOperand().getType().getDimSize(from) == 1;
  return true;
}

namespace {

/// The running sum of equal elements is the element times its place, an elementwise operation that fuses. The gradient
/// of a sum of running sums is one. Elements of less than 32 bits may not hold the places.
struct CumsumOfEqualElements : OpConversionPattern<CumsumOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(CumsumOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    Type element = type.getElementType();
    int64_t axis = op.getAxis();
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 32 || !type.hasStaticShape() ||
        type.getDimSize(axis) >= INT32_MAX || !isRepeatedAlong(op.getOperand(), axis))
      return failure();
    auto ofPlaces = type.clone(rewriter.getI32Type());
    auto constant = [&](int64_t value) -> Value {
      return ConstantOp::create(rewriter, op.getLoc(), ofPlaces,
                                DenseElementsAttr::get(ofPlaces, static_cast<int32_t>(value)));
    };
    Value index = IotaOp::create(rewriter, op.getLoc(), ofPlaces, axis, ValueRange());
    Value place = op.getReverse()
                      ? Value(SubOp::create(rewriter, op.getLoc(), constant(type.getDimSize(axis)), index))
                      : Value(AddOp::create(rewriter, op.getLoc(), index, constant(1)));
    Value factor = ConvertOp::create(rewriter, op.getLoc(), type, place);
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getOperand(), factor);
    return success();
  }
};

template <typename Op, Accumulation kind> struct CumulativeLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    replaceByRoutine(rewriter, op, "cumulative", {int64_t(kind), int64_t(op.getAxis()), int64_t(op.getReverse())},
                     adaptor.getOperand(), {tensor::getMixedSizes(rewriter, op.getLoc(), adaptor.getOperand())});
    return success();
  }
};

} // namespace

void array::populateCumulative(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CumsumOfEqualElements>(converter, patterns.getContext(), /*benefit=*/2);
  patterns.add<CumulativeLowering<CumsumOp, Accumulation::Sum>, CumulativeLowering<CumprodOp, Accumulation::Product>,
               CumulativeLowering<CummaxOp, Accumulation::Max>, CumulativeLowering<CumminOp, Accumulation::Min>,
               CumulativeLowering<CumlogsumexpOp, Accumulation::LogSumExp>>(converter, patterns.getContext());
}

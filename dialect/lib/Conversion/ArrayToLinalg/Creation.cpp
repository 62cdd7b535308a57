// constant, iota, dim_as_value.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Equal elements become a fill, so that the object file does not hold them; it folds into the bodies that read it.
struct ConstantLowering : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ConstantOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    RankedTensorType stored = storageType(type);
    ElementsAttr value = op.getValue();
    if (isa<ComplexType>(type.getElementType())) {
      auto dense = dyn_cast<DenseElementsAttr>(value);
      if (!dense)
        return rewriter.notifyMatchFailure(op, "expected a dense elements attribute");
      value = DenseElementsAttr::getFromRawBuffer(stored, dense.getRawData());
    } else if (auto floats = dyn_cast<DenseFPElementsAttr>(value); floats && type != stored) {
      value = floats.mapValues(stored.getElementType(), [&](const APFloat &number) {
        return number.bitcastToAPInt().zext(stored.getElementTypeBitWidth());
      });
    } else if (type != stored) {
      auto dense = dyn_cast<DenseIntElementsAttr>(value);
      if (!dense)
        return rewriter.notifyMatchFailure(op, "expected a dense elements attribute");
      value = dense.mapValues(stored.getElementType(),
                              [&](const APInt &number) { return number.zext(stored.getElementTypeBitWidth()); });
    }
    if (type.getRank() == 0 || type.getNumElements() == 0 || !value.isSplat()) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, stored, cast<TypedAttr>(value));
      return success();
    }
    Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), value.getSplatValue<TypedAttr>());
    auto sizes = getAsIndexOpFoldResult(getContext(), type.getShape());
    rewriter.replaceOp(op, filled(rewriter, op.getLoc(), sizes, scalar));
    return success();
  }
};

struct IotaLowering : OpConversionPattern<IotaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(IotaOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = bodyType(type.getElementType());
    auto sizes = sizesFrom(rewriter, type, adaptor.getOutputDims());
    auto body = [&](ImplicitLocOpBuilder &b, ValueRange) -> Value {
      Value index = linalg::IndexOp::create(b, op.getDimension());
      if (!isa<FloatType>(element))
        return arith::IndexCastOp::create(b, element, index);
      // Use i32 if it is exact: it vectorizes better than i64.
      bool fits = !type.isDynamicDim(op.getDimension()) && type.getDimSize(op.getDimension()) <= INT32_MAX;
      Value integer = arith::IndexCastOp::create(b, fits ? b.getI32Type() : b.getI64Type(), index);
      Value number = arith::SIToFPOp::create(b, accumulatorType(element), integer);
      return isHalf(element) ? arith::TruncFOp::create(b, element, number).getResult() : number;
    };
    replaceTyped(rewriter, op, parallelGeneric(rewriter, op.getLoc(), element, sizes, {}, {}, body));
    return success();
  }
};

struct DimAsValueLowering : OpConversionPattern<DimAsValueOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DimAsValueOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Value number = arith::IndexCastOp::create(rewriter, op.getLoc(), type.getElementType(), adaptor.getSizes());
    rewriter.replaceOpWithNewOp<tensor::FromElementsOp>(op, type, number);
    return success();
  }
};

} // namespace

void array::populateCreation(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConstantLowering, IotaLowering, DimAsValueLowering>(converter, patterns.getContext());
}

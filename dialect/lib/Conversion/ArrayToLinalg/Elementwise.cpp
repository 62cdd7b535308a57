// Elementwise ops: one pattern turns any row of the tables into a linalg.generic with identity maps. The tables of
// arithmetic, math, conversions and bits are in the files of those names.
#include "Elementwise.h"

using namespace mlir;
using namespace mlir::array;

namespace {

class ElementwiseLowering : public ConversionPattern {
public:
  ElementwiseLowering(const TypeConverter &converter, MLIRContext *context, const ElementwiseRow &row)
      : ConversionPattern(converter, row.op, /*benefit=*/1, context), body(row.body) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<AffineMap> maps(operands.size(), rewriter.getMultiDimIdentityMap(result.getRank()));
    auto sizes = sizesLike(rewriter, op->getLoc(), result, operands.back());
    Value lowered = parallelGeneric(
        rewriter, op->getLoc(), storageType(result.getElementType()), sizes, operands, maps,
        [&](ImplicitLocOpBuilder &b, ValueRange stored) {
          Scalars scalars{b, {}, getElementTypeOrSelf(op->getOperands().back()), result.getElementType()};
          for (auto [value, type] : llvm::zip(stored, op->getOperandTypes()))
            scalars.args.push_back(fromStorage(b, value, getElementTypeOrSelf(type)));
          return toStorage(b, body(scalars), scalars.resultElement);
        });
    replaceTyped(rewriter, op, lowered);
    return success();
  }

private:
  ElementwiseBody body;
};

/// The identity: it stops differentiation, which has ended before.
struct StopGradientLowering : OpConversionPattern<StopGradientOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StopGradientOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    replaceTyped(rewriter, op, adaptor.getOperand());
    return success();
  }
};

} // namespace

void array::populateElementwise(const TypeConverter &converter, RewritePatternSet &patterns) {
  for (ArrayRef<ElementwiseRow> rows : {arithmeticRows(), mathRows(), conversionRows(), bitsRows()})
    for (const ElementwiseRow &row : rows)
      patterns.add<ElementwiseLowering>(converter, patterns.getContext(), row);
  patterns.add<StopGradientLowering>(converter, patterns.getContext());
}

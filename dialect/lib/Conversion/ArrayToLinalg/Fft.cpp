// fft: a library routine.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

struct FftLowering : OpConversionPattern<FftOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(FftOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto result = cast<RankedTensorType>(op.getType());
    // Only leading dimensions can be dynamic, and these are the operand's.
    SmallVector<OpFoldResult> sizes = sizesLike(rewriter, op.getLoc(), result, adaptor.getOperand());
    Value init = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, storageType(result).getElementType());
    int64_t code =
        llvm::StringSwitch<int64_t>(op.getFftType()).Case("FFT", 0).Case("IFFT", 1).Case("RFFT", 2).Default(3);
    SmallVector<int64_t> params = {code, int64_t(op.getFftLengths().size())};
    SmallVector<Attribute> elements;
    for (Type type : {op.getOperand().getType().getElementType(), result.getElementType()})
      elements.push_back(TypeAttr::get(type));
    auto call = RuntimeCallOp::create(rewriter, op.getLoc(), init.getType(), "fft", params,
                                      rewriter.getArrayAttr(elements), adaptor.getOperand(), init);
    replaceTyped(rewriter, op, call.getResults());
    return success();
  }
};

} // namespace

void array::populateFft(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<FftLowering>(converter, patterns.getContext());
}

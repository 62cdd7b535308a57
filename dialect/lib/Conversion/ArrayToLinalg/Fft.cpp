// fft: a library routine.
#include "IndexMath.h"

using namespace mlir;
using namespace mlir::array;

namespace {

struct FftLowering : OpConversionPattern<FftOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(FftOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    IndexMath index(rewriter, op.getLoc());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), adaptor.getOperand());
    ValueRange given = adaptor.getSizes();
    OpFoldResult last = index.numbers(op.getFftLengths(), given).back();
    sizes.back() = op.getFftType() == "RFFT" ? index.add(index.divide(last, 2), 1) : last; // the others are equal
    int64_t code =
        llvm::StringSwitch<int64_t>(op.getFftType()).Case("FFT", 0).Case("IFFT", 1).Case("RFFT", 2).Default(3);
    SmallVector<int64_t> params = {code, int64_t(op.getFftLengths().size())};
    replaceByRoutine(rewriter, op, "fft", params, adaptor.getOperand(), {knownSizes(rewriter, op.getType(), sizes)});
    return success();
  }
};

} // namespace

void array::populateFft(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<FftLowering>(converter, patterns.getContext());
}

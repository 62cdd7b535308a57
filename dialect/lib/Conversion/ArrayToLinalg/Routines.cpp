// Operations that are routines of the library as they are: fft, and cumsum, cumprod, cummax, cummin, cumlogsumexp.
#include "IndexMath.h"
#include "Lowering.h"
#include "runtime/Accumulations.h"

using namespace mlir;
using namespace mlir::array;
using pcrt::Accumulation;

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

void array::populateFft(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<FftLowering>(converter, patterns.getContext());
}

void array::populateCumulative(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CumulativeLowering<CumsumOp, Accumulation::Sum>, CumulativeLowering<CumprodOp, Accumulation::Product>,
               CumulativeLowering<CummaxOp, Accumulation::Max>, CumulativeLowering<CumminOp, Accumulation::Min>,
               CumulativeLowering<CumlogsumexpOp, Accumulation::LogSumExp>>(converter, patterns.getContext());
}

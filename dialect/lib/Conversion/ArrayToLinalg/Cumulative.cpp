// cumsum, cumprod, cummax, cummin, cumlogsumexp: the library routine `cumulative`.
#include "Lowering.h"
#include "runtime/Accumulations.h"

using namespace mlir;
using namespace mlir::array;
using pcrt::Accumulation;

namespace {

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
  patterns.add<CumulativeLowering<CumsumOp, Accumulation::Sum>, CumulativeLowering<CumprodOp, Accumulation::Product>,
               CumulativeLowering<CummaxOp, Accumulation::Max>, CumulativeLowering<CumminOp, Accumulation::Min>,
               CumulativeLowering<CumlogsumexpOp, Accumulation::LogSumExp>>(converter, patterns.getContext());
}

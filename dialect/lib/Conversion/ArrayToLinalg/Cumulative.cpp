// cumsum, cumprod, cummax, cummin, cumlogsumexp: the library routine `cumulative`.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// `kind` is the routine's number for the operation.
template <typename Op, int64_t kind> struct CumulativeLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    replaceByRoutine(rewriter, op, "cumulative", {kind, int64_t(op.getAxis()), int64_t(op.getReverse())},
                     adaptor.getOperand(), {tensor::getMixedSizes(rewriter, op.getLoc(), adaptor.getOperand())});
    return success();
  }
};

} // namespace

void array::populateCumulative(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CumulativeLowering<CumsumOp, 0>, CumulativeLowering<CumprodOp, 1>, CumulativeLowering<CummaxOp, 2>,
               CumulativeLowering<CumminOp, 3>, CumulativeLowering<CumlogsumexpOp, 4>>(converter,
                                                                                       patterns.getContext());
}

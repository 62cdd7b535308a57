// reduce_window_*, select_and_gather, select_and_scatter: library routines.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// The routines' params: a number, then five for each dimension.
template <typename Op> SmallVector<int64_t> windowParams(Op op, int64_t first) {
  SmallVector<int64_t> params = {first};
  for (size_t dim = 0; dim < op.getLow().size(); ++dim)
    params.append({op.getWindowDimensions()[dim], op.getWindowStrides()[dim], op.getLow()[dim],
                   op.getBaseDilation()[dim], op.getWindowDilation()[dim]});
  return params;
}

/// Windows are counted by the inference; a dynamic count would have to be computed here.
template <typename Op> LogicalResult checkStatic(Op op) {
  if (op.getType().hasStaticShape())
    return success();
  return op.emitOpError("of a dynamic size can't be lowered yet");
}

template <typename Op, int64_t kind> struct ReduceWindowLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(checkStatic(op)))
      return failure();
    replaceByRoutine(rewriter, op, "reduce_window", windowParams(op, kind), adaptor.getOperand(),
                     {getAsIndexOpFoldResult(op.getContext(), op.getType().getShape())});
    return success();
  }
};

template <typename Op> struct SelectLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(checkStatic(op)))
      return failure();
    bool gathers = std::is_same_v<Op, SelectAndGatherOp>;
    replaceByRoutine(rewriter, op, gathers ? "select_and_gather" : "select_and_scatter",
                     windowParams(op, op.getGreatest()), adaptor.getOperands(),
                     {getAsIndexOpFoldResult(op.getContext(), op.getType().getShape())});
    return success();
  }
};

} // namespace

void array::populateWindow(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ReduceWindowLowering<ReduceWindowSumOp, 0>, ReduceWindowLowering<ReduceWindowProdOp, 1>,
               ReduceWindowLowering<ReduceWindowMaxOp, 2>, ReduceWindowLowering<ReduceWindowMinOp, 3>,
               SelectLowering<SelectAndGatherOp>, SelectLowering<SelectAndScatterOp>>(converter, patterns.getContext());
}

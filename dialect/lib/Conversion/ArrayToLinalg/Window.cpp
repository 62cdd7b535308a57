// reduce_window_*, select_and_gather, select_and_scatter: loops on the CPU (WindowLoops.h), library routines if the
// windows are not known, and on GPUs.
#include "IndexMath.h"
#include "WindowLoops.h"
#include "runtime/Accumulations.h"

using namespace mlir;
using namespace mlir::array;
using pcrt::Accumulation;

namespace {

/// The routines' params: a number, then five for each dimension. Non-constant ones are in `ofParams`.
template <typename Op> class Windows {
public:
  SmallVector<int64_t> params;
  SmallVector<Value> ofParams;

  Windows(OpBuilder &b, Op op, int64_t first, ValueRange sizes) : params{first}, op(op), index(b, op.getLoc()) {
    window = index.numbers(op.getWindowDimensions(), sizes);
    low = index.numbers(op.getLow(), sizes);
    high = index.numbers(op.getHigh(), sizes);
    for (size_t dim = 0; dim < low.size(); ++dim)
      dispatchIndexOpFoldResults({window[dim], index.number(op.getWindowStrides()[dim]), low[dim],
                                  index.number(op.getBaseDilation()[dim]), index.number(op.getWindowDilation()[dim])},
                                 ofParams, params);
  }

  /// The number of windows over an operand, in a result of this type.
  SmallVector<OpFoldResult> counts(Value operand, RankedTensorType result) {
    SmallVector<OpFoldResult> counts;
    for (auto [dim, known] : llvm::enumerate(result.getShape())) {
      if (!ShapedType::isDynamic(known)) {
        counts.push_back(index.number(known));
        continue;
      }
      OpFoldResult spread = index.dilated(index.size(operand, dim), op.getBaseDilation()[dim]);
      OpFoldResult padded = index.add(spread, index.add(low[dim], high[dim]));
      counts.push_back(index.countWindows(padded, index.dilated(window[dim], op.getWindowDilation()[dim]),
                                          op.getWindowStrides()[dim]));
    }
    return counts;
  }

private:
  Op op;
  IndexMath index;
  SmallVector<OpFoldResult> window, low, high;
};

template <typename Op, Accumulation kind> struct ReduceWindowLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Windows<Op> windows(rewriter, op, int64_t(kind), adaptor.getSizes());
    replaceByRoutine(rewriter, op, "reduce_window", windows.params, adaptor.getOperand(),
                     {windows.counts(adaptor.getOperand(), op.getType())}, windows.ofParams);
    return success();
  }
};

template <typename Op> struct SelectLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr bool gathers = std::is_same_v<Op, SelectAndGatherOp>;
    Value operand = adaptor.getOperand();
    Windows<Op> windows(rewriter, op, op.getGreatest(), adaptor.getSizes());
    RankedTensorType result = op.getType();
    SmallVector<OpFoldResult> sizes =
        gathers ? windows.counts(operand, result) : sizesLike(rewriter, op.getLoc(), result, operand);
    replaceByRoutine(rewriter, op, gathers ? "select_and_gather" : "select_and_scatter", windows.params,
                     {adaptor.getSource(), operand}, {sizes}, windows.ofParams);
    return success();
  }
};

} // namespace

void array::populateWindow(const TypeConverter &converter, RewritePatternSet &patterns, bool hasThreads) {
  if (!hasThreads) {
    populateWindowLoops(converter, patterns, /*benefit=*/2);
    populateWindowSelection(converter, patterns, /*benefit=*/2);
  }
  patterns.add<ReduceWindowLowering<ReduceWindowSumOp, Accumulation::Sum>,
               ReduceWindowLowering<ReduceWindowProdOp, Accumulation::Product>,
               ReduceWindowLowering<ReduceWindowMaxOp, Accumulation::Max>,
               ReduceWindowLowering<ReduceWindowMinOp, Accumulation::Min>, SelectLowering<SelectAndGatherOp>,
               SelectLowering<SelectAndScatterOp>>(converter, patterns.getContext());
}

// reduce_window_* as loops, if the windows are known.
//
// A few positions in a window: one elementwise generic reads the operand once for each, so producers and readers fuse
// with it. Many: a generic with reductions, or, if windows overlap, one dimension after the other, and a long dimension
// in factors. A separate op pads the operand, except for the gaps of a dilated one: they are not computed with.
#include "WindowLoops.h"
#include "IndexMath.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// The maximum number of operands that read the positions of windows.
constexpr int64_t mostOperands = 16;

template <typename Op> struct RowOf;
template <> struct RowOf<ReduceWindowSumOp> {
  using Reduce = ReduceSumOp;
  using Running = CumsumOp;
};
template <> struct RowOf<ReduceWindowProdOp> {
  using Reduce = ReduceProdOp;
  using Running = CumprodOp;
};
template <> struct RowOf<ReduceWindowMaxOp> {
  using Reduce = ReduceMaxOp;
  using Running = CummaxOp;
};
template <> struct RowOf<ReduceWindowMinOp> {
  using Reduce = ReduceMinOp;
  using Running = CumminOp;
};

/// The combination of two values of a window; of equal extrema the first.
Value combineTwo(ImplicitLocOpBuilder &b, const ReductionRow &row, Type element, Value before, Value x) {
  bool isMax = row.op == ReduceMaxOp::getOperationName();
  if (!isa<FloatType>(element) || !(isMax || row.op == ReduceMinOp::getOperationName()))
    return row.combine(b, element, before, x);
  // Three instructions, where a maximum that orders zeros by their sign takes five.
  using Predicate = arith::CmpFPredicate;
  Value isAhead = arith::CmpFOp::create(b, isMax ? Predicate::OGT : Predicate::OLT, x, before);
  Value ahead = arith::SelectOp::create(b, isAhead, x, before);
  return arith::SelectOp::create(b, arith::CmpFOp::create(b, Predicate::UNO, x, x), x, ahead);
}

/// Neighbours in pairs, then pairs of pairs.
Value combineAll(ImplicitLocOpBuilder &b, const ReductionRow &row, Type element, ArrayRef<Value> values) {
  if (values.size() == 1)
    return values.front();
  size_t half = llvm::PowerOf2Ceil(values.size()) / 2;
  return combineTwo(b, row, element, combineAll(b, row, element, values.take_front(half)),
                    combineAll(b, row, element, values.drop_front(half)));
}

template <typename Op> class WindowLoops : public OpConversionPattern<Op> {
public:
  WindowLoops(const TypeConverter &converter, MLIRContext *context, PatternBenefit benefit)
      : OpConversionPattern<Op>(converter, context, benefit), row(reductionRow(RowOf<Op>::Reduce::getOperationName())) {
  }

  /// One becomes several of fewer dimensions, without padding.
  void initialize() { this->setHasBoundedRewriteRecursion(); }

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<KnownWindows> windows = KnownWindows::get(op);
    if (!windows)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (Value running = asRunning(b, op, *windows))
      rewriter.replaceOp(op, running);
    else if (windows->isDilated() && emitPhases(b, op, adaptor.getOperand(), *windows, rewriter))
      ;
    else if (isSplit(*windows) && isHalf(elementOf(op)))
      rewriter.replaceOp(op, widened(b, op, *windows));
    else if (std::optional<int64_t> dim = splitDim(*windows))
      rewriter.replaceOp(op, reduceInSteps(b, op.getOperand(), *windows, *dim));
    else
      replaceTyped(rewriter, op, emit(b, op, adaptor.getOperand(), *windows));
    return success();
  }

private:
  static Type elementOf(Op op) { return op.getType().getElementType(); }
  bool isExtremum() const {
    return row.op == ReduceMaxOp::getOperationName() || row.op == ReduceMinOp::getOperationName();
  }

  static Value reduce(ImplicitLocOpBuilder &b, Value operand, const KnownWindows &w) {
    auto type = cast<RankedTensorType>(operand.getType());
    return Op::create(b, type.clone(w.counts()), operand, w.sizes, w.strides, w.low, w.high, w.base, w.dilation,
                      ValueRange());
  }

  /// A dimension of which window i ends, or begins, with element i.
  static Value asRunning(ImplicitLocOpBuilder &b, Op op, KnownWindows windows) {
    for (int64_t dim = 0; dim < windows.rank(); ++dim) {
      int64_t size = windows.sizes[dim], low = windows.low[dim], high = windows.high[dim];
      bool isForward = low == size - 1 && high == 0, isReverse = low == 0 && high == size - 1;
      if (windows.strides[dim] != 1 || windows.base[dim] != 1 || windows.dilation[dim] != 1 || size == 1 ||
          size < windows.lengths[dim] || !(isForward || isReverse))
        continue;
      Value running = RowOf<Op>::Running::create(b, op.getOperand().getType(), op.getOperand(), dim, isReverse);
      windows.sizes[dim] = 1;
      windows.low[dim] = windows.high[dim] = 0;
      bool isDone = llvm::none_of(llvm::seq<int64_t>(0, windows.rank()), [&](int64_t d) { return windows.divides(d); });
      return isDone ? running : reduce(b, running, windows);
    }
    return nullptr;
  }

  Value emit(ImplicitLocOpBuilder &b, Op op, Value operand, const KnownWindows &windows) const {
    Type element = elementOf(op);
    Value padded = padForWindows(b, b.getLoc(), operand, windows, row.neutral(b, element, storageType(element)));
    SmallVector<OpFoldResult> sizes = sizesLike(b, b.getLoc(), op.getType(), operand);
    return windows.positions() <= mostOperands ? unrolled(b, element, padded, windows, sizes)
                                               : looped(b, element, padded, windows, sizes);
  }

  /// The dimension to reduce first, if the windows are reduced in several steps: some overlap, and have many positions.
  std::optional<int64_t> splitDim(const KnownWindows &windows) const {
    if (!isSplit(windows))
      return std::nullopt;
    for (int64_t dim = windows.rank(); dim-- > 0;)
      if (windows.sizes[dim] > 1)
        return dim;
    return std::nullopt;
  }

  bool isSplit(const KnownWindows &windows) const {
    if (windows.positions() <= mostOperands)
      return false;
    bool overlap = false;
    int64_t longDims = 0, longDim = 0;
    for (int64_t dim = 0; dim < windows.rank(); ++dim) {
      overlap |= windows.strides[dim] < windows.sizes[dim];
      if (windows.sizes[dim] > 1) {
        longDims += 1;
        longDim = dim;
      }
    }
    return overlap && (longDims > 1 || (windows.strides[longDim] == 1 && factorOf(windows.sizes[longDim]) > 1));
  }

  /// The length of windows such that windows over them are windows of `size`; 1 if there is none. Those of extrema may
  /// overlap.
  int64_t factorOf(int64_t size) const {
    for (int64_t factor = mostOperands; factor > 3; --factor)
      if (size % factor == 0)
        return factor;
    return isExtremum() ? (size + 1) / 2 : 1;
  }

  Value reduceInSteps(ImplicitLocOpBuilder &b, Value operand, const KnownWindows &windows, int64_t dim) const {
    KnownWindows first = windows, second = windows;
    bool isLast = windows.positions() == windows.sizes[dim];
    if (!isLast) {
      for (int64_t other = 0; other < windows.rank(); ++other) {
        KnownWindows &idle = other == dim ? second : first;
        idle.sizes[other] = idle.strides[other] = idle.dilation[other] = idle.base[other] = 1;
        idle.low[other] = idle.high[other] = 0;
      }
    } else {
      int64_t size = windows.sizes[dim], factor = factorOf(size);
      first.sizes[dim] = factor;
      bool isEven = size % factor == 0;
      second.sizes[dim] = isEven ? size / factor : 2;
      second.dilation[dim] = windows.dilation[dim] * (isEven ? factor : size - factor);
      second = second.afterPadding();
    }
    Value inner = reduce(b, operand, first);
    second.lengths = first.counts();
    return reduce(b, inner, second);
  }

  /// Sums in several steps are rounded once.
  static Value widened(ImplicitLocOpBuilder &b, Op op, const KnownWindows &windows) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    Value wide = ConvertOp::create(b, type.clone(accumulatorType(type.getElementType())), op.getOperand());
    return ConvertOp::create(b, op.getType(), reduce(b, wide, windows));
  }

  bool emitPhases(ImplicitLocOpBuilder &b, Op op, Value operand, const KnownWindows &windows,
                  ConversionPatternRewriter &rewriter) const {
    Phases phases;
    for (int64_t dim = 0; dim < windows.rank(); ++dim) {
      if (windows.strides[dim] != 1)
        return false;
      phases.addDim(windows.base[dim], -windows.low[dim], windows.dilation[dim], windows.sizes[dim],
                    windows.lengths[dim], op.getType().getDimSize(dim));
    }
    if (!phases.areFew())
      return false;
    Type element = elementOf(op), stored = storageType(element), type = row.accumulator(element);
    Value neutral = row.neutral(b, element, stored);
    Value result = phases.emit(b, operand, neutral, stored, Type(), windows.sizes, operand, op.getType(),
                               [&](ImplicitLocOpBuilder &body, ArrayRef<Phases::Given> terms) {
                                 SmallVector<Value> values;
                                 for (const Phases::Given &term : terms)
                                   values.push_back(toAccumulator(body, term.elements.front(), type));
                                 return fromAccumulator(body, combineAll(body, row, element, values), stored);
                               });
    replaceTyped(rewriter, op, result);
    return true;
  }

  Value unrolled(ImplicitLocOpBuilder &b, Type element, Value operand, const KnownWindows &windows,
                 ArrayRef<OpFoldResult> sizes) const {
    Type stored = storageType(element), type = row.accumulator(element);
    SmallVector<AffineMap> maps;
    SmallVector<Value> inputs;
    for (int64_t number = 0; number < windows.positions(); ++number) {
      WindowRead read = readPosition(b, b.getLoc(), operand, windows, number, sizes);
      inputs.push_back(read.tensor);
      maps.push_back(read.map);
    }
    return parallelGeneric(b, b.getLoc(), stored, sizes, inputs, maps,
                           [&](ImplicitLocOpBuilder &body, ValueRange args) {
                             SmallVector<Value> values;
                             for (Value x : args.take_front(inputs.size()))
                               values.push_back(toAccumulator(body, x, type));
                             return fromAccumulator(body, combineAll(body, row, element, values), stored);
                           });
  }

  Value looped(ImplicitLocOpBuilder &b, Type element, Value operand, const KnownWindows &windows,
               ArrayRef<OpFoldResult> sizes) const {
    Type stored = storageType(element), type = row.accumulator(element);
    int64_t rank = windows.rank();
    Value init = filled(b, b.getLoc(), sizes, row.neutral(b, element, type));
    // No element of it is read. It determines the sizes of the loops.
    Value shape = tensor::EmptyOp::create(b, windows.sizes, b.getI8Type());
    MLIRContext *context = b.getContext();
    SmallVector<AffineExpr> inWindow, places;
    for (int64_t dim = 0; dim < rank; ++dim) {
      inWindow.push_back(b.getAffineDimExpr(rank + dim));
      AffineExpr window = b.getAffineDimExpr(dim) * windows.strides[dim];
      places.push_back(
          windows.divides(dim) || windows.sizes[dim] != 1 ? window + inWindow.back() * windows.dilation[dim] : window);
    }
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators.resize(2 * rank, utils::IteratorType::reduction);
    auto generic = linalg::GenericOp::create(b, init.getType(), ValueRange{operand, shape}, init,
                                             ArrayRef{AffineMap::get(2 * rank, 0, places, context),
                                                      AffineMap::get(2 * rank, 0, inWindow, context),
                                                      leadingLoops(b, 2 * rank, rank)},
                                             iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
                                               ImplicitLocOpBuilder body(loc, nested);
                                               Value x = toAccumulator(body, args[0], type);
                                               linalg::YieldOp::create(body, row.combine(body, element, args[2], x));
                                             });
    Value reduced = generic.getResult(0);
    if (type == stored)
      return reduced;
    return parallelGeneric(
        b, b.getLoc(), stored, sizes, reduced, b.getMultiDimIdentityMap(rank),
        [&](ImplicitLocOpBuilder &body, ValueRange args) { return fromAccumulator(body, args[0], stored); });
  }

  const ReductionRow &row;
};

} // namespace

void array::populateWindowLoops(const TypeConverter &converter, RewritePatternSet &patterns, PatternBenefit benefit) {
  patterns.add<WindowLoops<ReduceWindowSumOp>, WindowLoops<ReduceWindowProdOp>, WindowLoops<ReduceWindowMaxOp>,
               WindowLoops<ReduceWindowMinOp>>(converter, patterns.getContext(), benefit);
}

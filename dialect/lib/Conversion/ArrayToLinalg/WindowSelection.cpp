// select_and_gather and select_and_scatter as loops, if the windows are known: one generic finds the position of each
// window's extremum, and elementwise ones compare the positions.
#include "WindowLoops.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// The maximum number of positions in a window: each is a step of an elementwise op.
constexpr int64_t mostPositions = 64;

/// The type of positions; -1 is a window of padding.
Type numberType(OpBuilder &b, const KnownWindows &windows) {
  return windows.positions() <= 127 ? b.getI8Type() : b.getI32Type();
}

/// Which windows have an element at a position: null if all.
Value exists(ImplicitLocOpBuilder &b, const KnownWindows &windows, ArrayRef<int64_t> position) {
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, int64_t dim, int64_t bound) {
    Value window = linalg::IndexOp::create(b, dim);
    Value holds = arith::CmpIOp::create(b, predicate, window, arith::ConstantIndexOp::create(b, bound));
    all = all ? arith::AndIOp::create(b, all, holds).getResult() : holds;
  };
  for (int64_t dim = 0; dim < windows.rank(); ++dim) {
    if (!windows.divides(dim))
      continue;
    // Element o * stride + shift of the operand, for window o.
    int64_t shift = position[dim] * windows.dilation[dim] - windows.low[dim], stride = windows.strides[dim];
    int64_t first = std::max<int64_t>(0, (-shift + stride - 1) / stride), last = windows.lengths[dim] - 1 - shift;
    int64_t end = last < 0 ? 0 : last / stride + 1;
    if (first > 0)
      require(arith::CmpIPredicate::sge, dim, first);
    if (end < windows.count(dim))
      require(arith::CmpIPredicate::slt, dim, end);
  }
  return all;
}

template <typename Op> class SelectionLoops : public OpConversionPattern<Op> {
public:
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<KnownWindows> windows = KnownWindows::get(op);
    if (!windows || windows->isDilated() || windows->positions() > mostPositions)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if constexpr (std::is_same_v<Op, SelectAndGatherOp>) {
      replaceTyped(rewriter, op, gather(b, op, adaptor, *windows));
    } else {
      Phases phases;
      for (int64_t dim = 0; dim < windows->rank(); ++dim)
        phases.addDim(windows->strides[dim], windows->low[dim], -windows->dilation[dim], windows->sizes[dim],
                      windows->count(dim), windows->lengths[dim]);
      if (!phases.areFew())
        return failure();
      replaceTyped(rewriter, op, scatter(b, op, adaptor, *windows, phases));
    }
    return success();
  }

private:
  static Type elementOf(Op op) { return op.getType().getElementType(); }

  /// The sizes of the windows.
  static SmallVector<OpFoldResult> sizesOf(ImplicitLocOpBuilder &b, const KnownWindows &windows, Value operand) {
    auto type = cast<RankedTensorType>(operand.getType());
    return sizesLike(b, b.getLoc(), type.clone(windows.counts()), operand);
  }

  /// For each position of a window the elements there; padding has zeros.
  static Value forEachPosition(ImplicitLocOpBuilder &b, Op op, const KnownWindows &windows, Type stored, Value operand,
                               ValueRange others, ScalarBody body) {
    Value zero = constant(b, elementOf(op), 0);
    Value padded = padForWindows(b, b.getLoc(), operand, windows, zero);
    SmallVector<OpFoldResult> sizes = sizesOf(b, windows, operand);
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (int64_t number = 0; number < windows.positions(); ++number) {
      WindowRead read = readPosition(b, b.getLoc(), padded, windows, number, sizes);
      inputs.push_back(read.tensor);
      maps.push_back(read.map);
    }
    maps.append(others.size(), b.getMultiDimIdentityMap(windows.rank()));
    llvm::append_range(inputs, others);
    return parallelGeneric(b, b.getLoc(), stored, sizes, inputs, maps, body);
  }

  /// The position of the extremum in each window.
  static Value choose(ImplicitLocOpBuilder &b, Op op, Value operand, const KnownWindows &windows) {
    Type type = accumulatorType(elementOf(op)), number = numberType(b, windows);
    return forEachPosition(b, op, windows, number, operand, {}, [&](ImplicitLocOpBuilder &body, ValueRange args) {
      Value best, place;
      bool mayBeEmpty = true; // whether no position so far may exist
      for (int64_t k = 0; k < windows.positions(); ++k) {
        Value x = toAccumulator(body, args[k], type), here = intConstant(body, number, k);
        Value isHere = exists(body, windows, windows.position(k));
        if (!best) {
          best = x;
          place =
              isHere ? arith::SelectOp::create(body, isHere, here, intConstant(body, number, -1)).getResult() : here;
        } else {
          Value better = isBetter(body, elementOf(op), op.getGreatest(), x, best);
          if (mayBeEmpty) {
            Value isFirst = arith::CmpIOp::create(body, arith::CmpIPredicate::slt, place, intConstant(body, number, 0));
            better = arith::OrIOp::create(body, better, isFirst);
          }
          if (isHere)
            better = arith::AndIOp::create(body, better, isHere);
          best = arith::SelectOp::create(body, better, x, best);
          place = arith::SelectOp::create(body, better, here, place);
        }
        mayBeEmpty &= isHere != nullptr;
      }
      return place;
    });
  }

  static Value gather(ImplicitLocOpBuilder &b, Op op, typename Op::Adaptor adaptor, const KnownWindows &windows) {
    Value places = choose(b, op, adaptor.getOperand(), windows), source = adaptor.getSource();
    Type stored = elementOf(op), number = numberType(b, windows);
    // The windows are known of the operand's type.
    if (Type type = adaptor.getOperand().getType(); source.getType() != type)
      source = tensor::CastOp::create(b, type, source);
    return forEachPosition(b, op, windows, stored, source, places, [&](ImplicitLocOpBuilder &body, ValueRange args) {
      Value place = args[windows.positions()], result = constant(body, stored, 0);
      for (int64_t k = 0; k < windows.positions(); ++k) {
        Value isChosen = arith::CmpIOp::create(body, arith::CmpIPredicate::eq, place, intConstant(body, number, k));
        result = arith::SelectOp::create(body, isChosen, args[k], result);
      }
      return result;
    });
  }

  static Value scatter(ImplicitLocOpBuilder &b, Op op, typename Op::Adaptor adaptor, const KnownWindows &windows,
                       const Phases &phases) {
    Type stored = elementOf(op), type = accumulatorType(stored), number = numberType(b, windows);
    Value places = choose(b, op, adaptor.getOperand(), windows);
    Value zero = constant(b, stored, 0), none = intConstant(b, number, -1);
    return phases.emit(
        b, {adaptor.getSource(), places}, {zero, none}, stored, number, windows.sizes, adaptor.getOperand(),
        op.getType(), [&](ImplicitLocOpBuilder &body, ArrayRef<Phases::Given> terms) {
          Value sum;
          for (const Phases::Given &term : terms) {
            Value isChosen = arith::CmpIOp::create(body, arith::CmpIPredicate::eq, term.elements[1], term.position);
            Value x = arith::SelectOp::create(body, isChosen, term.elements[0], constant(body, stored, 0));
            x = toAccumulator(body, x, type);
            sum = sum ? arith::AddFOp::create(body, sum, x, reductionFlags(body)).getResult() : x;
          }
          return fromAccumulator(body, sum, stored);
        });
  }
};

} // namespace

void array::populateWindowSelection(const TypeConverter &converter, RewritePatternSet &patterns,
                                    PatternBenefit benefit) {
  patterns.add<SelectionLoops<SelectAndGatherOp>, SelectionLoops<SelectAndScatterOp>>(converter, patterns.getContext(),
                                                                                      benefit);
}

// reduce_*: linalg.fill with the neutral element, then one generic. argmax and argmin: one generic that carries value
// and index.
#include "Reduction.h"

using namespace mlir;
using namespace mlir::array;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The extremes of an element type, in its storage or accumulator type.
Value lowest(ImplicitLocOpBuilder &b, Type element, Type type) {
  if (isa<FloatType>(type))
    return constant(b, type, -infinity);
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = isUnsigned(element) ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

Value highest(ImplicitLocOpBuilder &b, Type element, Type type) {
  if (isa<FloatType>(type))
    return constant(b, type, infinity);
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = element.isInteger(1)  ? APInt(width, 1)
                : isUnsigned(element) ? APInt::getMaxValue(width)
                                      : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

template <int64_t value> Value number(ImplicitLocOpBuilder &b, Type, Type type) {
  return isa<FloatType>(type) ? constant(b, type, value) : intConstant(b, type, value);
}

/// All bits set; for bool, which is stored as 0 or 1, only the last.
Value allOnes(ImplicitLocOpBuilder &b, Type element, Type type) {
  return intConstant(b, type, element.isInteger(1) ? 1 : -1);
}

template <typename FloatOp, typename IntOp> Value accumulate(ImplicitLocOpBuilder &b, Type, Value sum, Value x) {
  if (isa<FloatType>(x.getType()))
    return FloatOp::create(b, sum, x, reductionFlags(b));
  return IntOp::create(b, sum, x);
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
Value extremum(ImplicitLocOpBuilder &b, Type element, Value best, Value x) {
  if (isa<FloatType>(element))
    return FloatOp::create(b, best, x);
  if (isUnsigned(element))
    return UnsignedOp::create(b, best, x);
  return SignedOp::create(b, best, x);
}

template <typename Op> Value bitwise(ImplicitLocOpBuilder &b, Type, Value bits, Value x) {
  return Op::create(b, bits, x);
}

} // namespace

ArrayRef<ReductionRow> array::reductionRows() {
  static const ReductionRow rows[] = {
      {ReduceSumOp::getOperationName(), number<0>, accumulate<arith::AddFOp, arith::AddIOp>, true},
      {ReduceProdOp::getOperationName(), number<1>, accumulate<arith::MulFOp, arith::MulIOp>, true},
      {ReduceMaxOp::getOperationName(), lowest, extremum<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>, true},
      {ReduceMinOp::getOperationName(), highest, extremum<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>, true},
      {ReduceAndOp::getOperationName(), allOnes, bitwise<arith::AndIOp>, false},
      {ReduceOrOp::getOperationName(), number<0>, bitwise<arith::OrIOp>, false},
      {ReduceXorOp::getOperationName(), number<0>, bitwise<arith::XOrIOp>, false},
  };
  return rows;
}

const ReductionRow &array::reductionRow(StringRef op) {
  const ReductionRow *row = llvm::find_if(reductionRows(), [&](const ReductionRow &r) { return r.op == op; });
  assert(row != reductionRows().end() && "not a reduction");
  return *row;
}

Value array::isBetter(ImplicitLocOpBuilder &b, Type element, bool isMax, Value x, Value best) {
  if (!isa<FloatType>(element)) {
    using Predicate = arith::CmpIPredicate;
    Predicate predicate =
        isUnsigned(element) ? (isMax ? Predicate::ugt : Predicate::ult) : (isMax ? Predicate::sgt : Predicate::slt);
    return arith::CmpIOp::create(b, predicate, x, best);
  }
  using Predicate = arith::CmpFPredicate;
  // Unordered or better: true for a nan, unless there was one already.
  Value ahead = arith::CmpFOp::create(b, isMax ? Predicate::UGT : Predicate::ULT, x, best);
  Value noNanYet = arith::CmpFOp::create(b, Predicate::ORD, best, best);
  return arith::AndIOp::create(b, ahead, noNanYet);
}

Value array::toAccumulator(ImplicitLocOpBuilder &b, Value x, Type accumulator) {
  return x.getType() == accumulator ? x : arith::ExtFOp::create(b, accumulator, x).getResult();
}

Value array::fromAccumulator(ImplicitLocOpBuilder &b, Value x, Type stored) {
  return x.getType() == stored ? x : arith::TruncFOp::create(b, stored, x).getResult();
}

namespace {

/// The roles of the operand's dimensions: all are loops, and the kept ones index the result.
struct ReductionSpace {
  AffineMap operandMap, resultMap;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<OpFoldResult> resultSizes;

  ReductionSpace(OpBuilder &b, Location loc, Value operand, ArrayRef<int64_t> axes) {
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<AffineExpr> kept;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool reduced = llvm::is_contained(axes, dim);
      iterators.push_back(reduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
      if (reduced)
        continue;
      kept.push_back(b.getAffineDimExpr(dim));
      resultSizes.push_back(tensor::getMixedSize(b, loc, operand, dim));
    }
    operandMap = b.getMultiDimIdentityMap(type.getRank());
    resultMap = AffineMap::get(type.getRank(), 0, kept, b.getContext());
  }
};

class ReductionLowering : public ConversionPattern {
public:
  ReductionLowering(const TypeConverter &converter, MLIRContext *context, const ReductionRow &row)
      : ConversionPattern(converter, row.op, /*benefit=*/1, context), row(row) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    Type element = result.getElementType(), stored = storageType(element);
    Type type = row.accumulator(element);
    ReductionSpace space(b, b.getLoc(), operands[0], op->getAttrOfType<DenseI64ArrayAttr>("axes"));
    Value init = filled(b, b.getLoc(), space.resultSizes, row.neutral(b, element, type));
    auto generic =
        linalg::GenericOp::create(b, init.getType(), operands[0], init, ArrayRef{space.operandMap, space.resultMap},
                                  space.iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
                                    ImplicitLocOpBuilder body(loc, nested);
                                    Value x = toAccumulator(body, args[0], type);
                                    linalg::YieldOp::create(body, row.combine(body, element, args[1], x));
                                  });
    Value reduced = generic.getResult(0);
    if (type != stored)
      reduced =
          parallelGeneric(b, b.getLoc(), stored, space.resultSizes, reduced, b.getMultiDimIdentityMap(result.getRank()),
                          [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
                            return arith::TruncFOp::create(body, stored, args[0]);
                          });
    replaceTyped(rewriter, op, reduced);
    return success();
  }

private:
  ReductionRow row;
};

/// The first of equal elements wins, and nan over everything. The loop runs in ascending order: a pass that changes the
/// order has to compare the indices of equal elements.
template <typename Op, bool isMax> struct ArgReductionLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OpAdaptor = typename Op::Adaptor;

  LogicalResult matchAndRewrite(Op op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value operand = adaptor.getOperand();
    Type element = cast<RankedTensorType>(op.getOperand().getType()).getElementType();
    Type stored = isHalf(element) ? accumulatorType(element) : storageType(element);
    Type indexType = bodyType(getElementTypeOrSelf(op.getType()));
    int64_t axis = op.getAxis();
    ReductionSpace space(b, b.getLoc(), operand, axis);
    Value best = isMax ? lowest(b, element, stored) : highest(b, element, stored);
    Value bestInit = filled(b, b.getLoc(), space.resultSizes, best);
    Value indexInit = filled(b, b.getLoc(), space.resultSizes, intConstant(b, indexType, 0));
    auto generic = linalg::GenericOp::create(
        b, TypeRange{bestInit.getType(), indexInit.getType()}, operand, ValueRange{bestInit, indexInit},
        ArrayRef{space.operandMap, space.resultMap, space.resultMap}, space.iterators,
        [&](OpBuilder &nested, Location loc, ValueRange args) {
          ImplicitLocOpBuilder body(loc, nested);
          Value index = arith::IndexCastOp::create(body, indexType, linalg::IndexOp::create(body, axis));
          Value x = args[0];
          if (x.getType() != stored)
            x = arith::ExtFOp::create(body, stored, x);
          Value better = isBetter(body, element, isMax, x, args[1]);
          Value value = arith::SelectOp::create(body, better, x, args[1]);
          linalg::YieldOp::create(body,
                                  ValueRange{value, arith::SelectOp::create(body, better, index, args[2]).getResult()});
        });
    replaceTyped(rewriter, op, generic.getResult(1));
    return success();
  }
};

} // namespace

void array::populateReduction(const TypeConverter &converter, RewritePatternSet &patterns) {
  for (const ReductionRow &row : reductionRows())
    patterns.add<ReductionLowering>(converter, patterns.getContext(), row);
  patterns.add<ArgReductionLowering<ArgmaxOp, true>, ArgReductionLowering<ArgminOp, false>>(converter,
                                                                                            patterns.getContext());
}

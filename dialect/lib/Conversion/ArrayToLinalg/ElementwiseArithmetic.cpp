// Rows of the elementwise table: arithmetic, bit operations, comparison, select. As in XLA, integer division and shifts
// are total: x / 0 is -1 (all ones), x % 0 is x, INT_MIN / -1 wraps, a shift by the width or more gives 0 or the sign.
#include "Elementwise.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::array;

namespace {

Value intLike(Scalars &s, Value like, int64_t value) { return intConstant(s.b, like.getType(), value); }

Value compareInt(Scalars &s, arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(s.b, predicate, lhs, rhs);
}

Value compareFloat(Scalars &s, arith::CmpFPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpFOp::create(s.b, predicate, lhs, rhs);
}

Value select(Scalars &s, Value condition, Value onTrue, Value onFalse) {
  return arith::SelectOp::create(s.b, condition, onTrue, onFalse);
}

/// One op per kind of element.
template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp> Value byKind(Scalars &s) {
  if (isa<FloatType>(s.element))
    return FloatOp::create(s.b, s.args);
  if (isUnsigned(s.element))
    return UnsignedOp::create(s.b, s.args);
  return SignedOp::create(s.b, s.args);
}

/// Additions and multiplications, which may be contracted.
template <typename FloatOp, typename IntOp> Value contracted(Scalars &s) {
  if (isa<FloatType>(s.element))
    return FloatOp::create(s.b, s.args[0], s.args[1], contractFlags(s.b));
  return IntOp::create(s.b, s.args);
}

template <typename Op> Value plain(Scalars &s) { return Op::create(s.b, s.args); }

template <arith::CmpFPredicate floats, arith::CmpIPredicate ints, arith::CmpIPredicate unsignedInts = ints>
Value compare(Scalars &s) {
  if (isa<FloatType>(s.element))
    return compareFloat(s, floats, s.args[0], s.args[1]);
  return compareInt(s, isUnsigned(s.element) ? unsignedInts : ints, s.args[0], s.args[1]);
}

Value absolute(Scalars &s) {
  if (isa<FloatType>(s.element))
    return math::AbsFOp::create(s.b, s.args);
  return math::AbsIOp::create(s.b, s.args);
}

Value negate(Scalars &s) {
  if (isa<FloatType>(s.element))
    return arith::NegFOp::create(s.b, s.args);
  return arith::SubIOp::create(s.b, intLike(s, s.args[0], 0), s.args[0]);
}

/// nan and zeros are kept.
Value sign(Scalars &s) {
  Value x = s.args[0];
  if (isa<FloatType>(s.element)) {
    Value unit = math::CopySignOp::create(s.b, constant(s.b, x.getType(), 1), x);
    Value keep = compareFloat(s, arith::CmpFPredicate::UEQ, x, constant(s.b, x.getType(), 0));
    return select(s, keep, x, unit);
  }
  Value zero = intLike(s, x, 0), one = intLike(s, x, 1);
  Value nonzero = select(s, compareInt(s, arith::CmpIPredicate::ne, x, zero), one, zero);
  if (isUnsigned(s.element))
    return nonzero;
  return select(s, compareInt(s, arith::CmpIPredicate::slt, x, zero), intLike(s, x, -1), nonzero);
}

Value invert(Scalars &s) { return arith::XOrIOp::create(s.b, s.args[0], intLike(s, s.args[0], -1)); }

/// A divisor for which the hardware's division is defined: 1 replaces 0, and -1 if the dividend is INT_MIN.
struct SafeDivisor {
  Value divisor, isZero;
};

SafeDivisor safeDivisor(Scalars &s) {
  Value x = s.args[0], y = s.args[1];
  Value isZero = compareInt(s, arith::CmpIPredicate::eq, y, intLike(s, y, 0));
  Value replace = isZero;
  if (!isUnsigned(s.element)) {
    auto minimum = APInt::getSignedMinValue(x.getType().getIntOrFloatBitWidth()).getSExtValue();
    Value isMinimum = compareInt(s, arith::CmpIPredicate::eq, x, intLike(s, x, minimum));
    Value isMinusOne = compareInt(s, arith::CmpIPredicate::eq, y, intLike(s, y, -1));
    replace = arith::OrIOp::create(s.b, isZero, arith::AndIOp::create(s.b, isMinimum, isMinusOne));
  }
  return {select(s, replace, intLike(s, y, 1), y), isZero};
}

Value divide(Scalars &s) {
  if (isa<FloatType>(s.element))
    return arith::DivFOp::create(s.b, s.args);
  SafeDivisor safe = safeDivisor(s);
  Value x = s.args[0];
  Value quotient = isUnsigned(s.element) ? arith::DivUIOp::create(s.b, x, safe.divisor).getResult()
                                         : arith::DivSIOp::create(s.b, x, safe.divisor).getResult();
  return select(s, safe.isZero, intLike(s, x, -1), quotient);
}

Value remainder(Scalars &s) {
  if (isa<FloatType>(s.element))
    return arith::RemFOp::create(s.b, s.args);
  SafeDivisor safe = safeDivisor(s);
  Value x = s.args[0];
  Value rest = isUnsigned(s.element) ? arith::RemUIOp::create(s.b, x, safe.divisor).getResult()
                                     : arith::RemSIOp::create(s.b, x, safe.divisor).getResult();
  return select(s, safe.isZero, x, rest);
}

template <typename ShiftOp> Value shiftOrZero(Scalars &s) {
  Value x = s.args[0], count = s.args[1];
  Value inRange = compareInt(s, arith::CmpIPredicate::ult, count, intLike(s, x, x.getType().getIntOrFloatBitWidth()));
  return select(s, inRange, ShiftOp::create(s.b, x, count), intLike(s, x, 0));
}

Value shiftRightArithmetic(Scalars &s) {
  Value x = s.args[0];
  Value last = intLike(s, x, x.getType().getIntOrFloatBitWidth() - 1);
  return arith::ShRSIOp::create(s.b, x, arith::MinUIOp::create(s.b, s.args[1], last));
}

Value isFinite(Scalars &s) {
  Value magnitude = math::AbsFOp::create(s.b, s.args);
  return compareFloat(s, arith::CmpFPredicate::OLT, magnitude,
                      constant(s.b, magnitude.getType(), std::numeric_limits<double>::infinity()));
}

} // namespace

ArrayRef<ElementwiseRow> array::arithmeticRows() {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static const ElementwiseRow rows[] = {
      {AbsOp::getOperationName(), absolute},
      {NegOp::getOperationName(), negate},
      {SignOp::getOperationName(), sign},
      {NotOp::getOperationName(), invert},
      {IsFiniteOp::getOperationName(), isFinite},
      {AddOp::getOperationName(), contracted<arith::AddFOp, arith::AddIOp>},
      {SubOp::getOperationName(), contracted<arith::SubFOp, arith::SubIOp>},
      {MulOp::getOperationName(), contracted<arith::MulFOp, arith::MulIOp>},
      {DivOp::getOperationName(), divide},
      {RemOp::getOperationName(), remainder},
      {MaxOp::getOperationName(), byKind<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>},
      {MinOp::getOperationName(), byKind<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>},
      {AndOp::getOperationName(), plain<arith::AndIOp>},
      {OrOp::getOperationName(), plain<arith::OrIOp>},
      {XorOp::getOperationName(), plain<arith::XOrIOp>},
      {ShiftLeftOp::getOperationName(), shiftOrZero<arith::ShLIOp>},
      {ShiftRightLogicalOp::getOperationName(), shiftOrZero<arith::ShRUIOp>},
      {ShiftRightArithmeticOp::getOperationName(), shiftRightArithmetic},
      {EqOp::getOperationName(), compare<F::OEQ, I::eq>},
      {NeOp::getOperationName(), compare<F::UNE, I::ne>},
      {LtOp::getOperationName(), compare<F::OLT, I::slt, I::ult>},
      {LeOp::getOperationName(), compare<F::OLE, I::sle, I::ule>},
      {GtOp::getOperationName(), compare<F::OGT, I::sgt, I::ugt>},
      {GeOp::getOperationName(), compare<F::OGE, I::sge, I::uge>},
      {SelectOp::getOperationName(), plain<arith::SelectOp>},
  };
  return rows;
}

// Rows of the elementwise table: convert between any two element types, bitcast. Float to integer truncates towards
// zero, saturates, and takes nan to 0; to bool is != 0.
#include "Elementwise.h"
#include "ElementwiseSmall.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::array;

namespace {

Value toBool(Scalars &s, Value x) {
  if (isa<FloatType>(s.element))
    return arith::CmpFOp::create(s.b, arith::CmpFPredicate::UNE, x, constant(s.b, x.getType(), 0));
  return arith::CmpIOp::create(s.b, arith::CmpIPredicate::ne, x, intConstant(s.b, x.getType(), 0));
}

Value intToInt(Scalars &s, Value x, Type to) {
  unsigned from = x.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (from == width)
    return x;
  if (from > width)
    return arith::TruncIOp::create(s.b, to, x);
  if (isUnsigned(s.element))
    return arith::ExtUIOp::create(s.b, to, x);
  return arith::ExtSIOp::create(s.b, to, x);
}

/// f64 -> f32, rounded to odd: rounded towards zero, with the last bit set if the result is inexact. A second rounding,
/// to f16 or bf16, then equals a single rounding (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
/// proved algorithms using rounding to odd", 2008). Back ends have no direct f64 -> f16 conversion.
Value roundToOdd(Scalars &s, Value x) {
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type(), f64 = x.getType();
  Value nearest = arith::TruncFOp::create(s.b, f32, x);
  Value exact = arith::ExtFOp::create(s.b, f64, nearest);
  Value lost = arith::CmpFOp::create(s.b, arith::CmpFPredicate::ONE, exact, x);
  Value tooFar = arith::CmpFOp::create(s.b, arith::CmpFPredicate::OGT, math::AbsFOp::create(s.b, exact),
                                       math::AbsFOp::create(s.b, x));
  Value bits = arith::BitcastOp::create(s.b, i32, nearest);
  Value towardsZero = arith::SubIOp::create(s.b, bits, arith::ExtUIOp::create(s.b, i32, tooFar));
  Value odd = arith::OrIOp::create(s.b, towardsZero, arith::ExtUIOp::create(s.b, i32, lost));
  return arith::BitcastOp::create(s.b, f32, odd);
}

Value floatToFloat(Scalars &s, Value x, Type to) {
  Type from = x.getType(), f32 = s.b.getF32Type();
  if (from == to)
    return x;
  if (isHalf(from)) {
    x = arith::ExtFOp::create(s.b, f32, x);
    return floatToFloat(s, x, to);
  }
  if (isHalf(to) && from.isF64())
    x = roundToOdd(s, x);
  if (x.getType().getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(s.b, to, x);
  return arith::TruncFOp::create(s.b, to, x);
}

/// Conversions to f16 and bf16 use an intermediate float type that holds the integer well enough to round once.
Value intToFloat(Scalars &s, Value x, Type to) {
  bool narrow = x.getType().getIntOrFloatBitWidth() <= 24;
  Type through = !isHalf(to) ? to : narrow ? s.b.getF32Type() : Type(s.b.getF64Type());
  Value converted = isUnsigned(s.element) ? arith::UIToFPOp::create(s.b, through, x).getResult()
                                          : arith::SIToFPOp::create(s.b, through, x).getResult();
  return floatToFloat(s, converted, to);
}

/// arith's conversions are undefined out of range, so their operand is 0 there; the ends are selected afterwards.
Value floatToInt(Scalars &s, Value x, Type to) {
  if (isHalf(x.getType()))
    x = arith::ExtFOp::create(s.b, s.b.getF32Type(), x);
  Type floatType = x.getType();
  bool isUnsigned = s.resultElement.isUnsignedInteger();
  unsigned width = to.getIntOrFloatBitWidth();
  APInt minimum = isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt maximum = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  // One past the ends. These are powers of two, so they are exact. The lower end of wide signed types is itself exact.
  double above = maximum.roundToDouble(!isUnsigned) + (width < 53 ? 1 : 0), lowest = minimum.roundToDouble(!isUnsigned);

  using Predicate = arith::CmpFPredicate;
  auto compare = [&](Predicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(s.b, predicate, x, constant(s.b, floatType, bound));
  };
  auto end = [&](const APInt &value) -> Value { return arith::ConstantOp::create(s.b, s.b.getIntegerAttr(to, value)); };
  Value isAbove = compare(Predicate::OGE, above), isBelow = compare(Predicate::OLT, lowest);
  Value inRange = arith::AndIOp::create(s.b, compare(Predicate::OGE, lowest), compare(Predicate::OLT, above));
  Value safe = arith::SelectOp::create(s.b, inRange, x, constant(s.b, floatType, 0));
  Value truncated = isUnsigned ? arith::FPToUIOp::create(s.b, to, safe).getResult()
                               : arith::FPToSIOp::create(s.b, to, safe).getResult();
  Value capped = arith::SelectOp::create(s.b, isAbove, end(maximum), truncated);
  return arith::SelectOp::create(s.b, isBelow, end(minimum), capped);
}

Value convert(Scalars &s);

/// The intermediate type of a conversion: i8 or ui8 for a small integer, f32 for a small float.
Type throughType(Scalars &s, Type small) {
  auto integer = dyn_cast<IntegerType>(small);
  if (!integer)
    return s.b.getF32Type();
  return IntegerType::get(s.b.getContext(), 8, integer.isUnsigned() ? IntegerType::Unsigned : IntegerType::Signless);
}

/// A float saturates to the ends of the integer, as for wider integers.
Value clampSmall(Scalars &s, Value x, IntegerType small) {
  unsigned width = small.getWidth();
  if (small.isUnsigned())
    return arith::MinUIOp::create(s.b, x, intConstant(s.b, x.getType(), (1 << width) - 1));
  Value least = intConstant(s.b, x.getType(), -(1 << (width - 1)));
  Value greatest = intConstant(s.b, x.getType(), (1 << (width - 1)) - 1);
  return arith::MinSIOp::create(s.b, arith::MaxSIOp::create(s.b, x, least), greatest);
}

/// A conversion from or to a small type.
Value convertSmall(Scalars &s) {
  Scalars from{s.b, s.args, s.element, s.resultElement};
  if (isSmall(s.element)) {
    from.element = throughType(s, s.element);
    from.args[0] = decodeSmall(s.b, s.args[0], s.element);
  }
  if (!isSmall(s.resultElement))
    return convert(from);
  from.resultElement = throughType(s, s.resultElement);
  bool isRounded = isa<FloatType>(s.resultElement) && (from.element.isF64() || isa<IntegerType>(from.element));
  if (isRounded && !from.element.isSignlessInteger(1)) {
    // Through f64 and a rounding to odd, so that there is only one rounding.
    Type f64 = s.b.getF64Type();
    Scalars wide{s.b, from.args, from.element, f64};
    Value odd = roundToOdd(s, convert(wide));
    return encodeSmall(s.b, odd, s.resultElement);
  }
  Value x = convert(from);
  if (auto integer = dyn_cast<IntegerType>(s.resultElement); integer && isa<FloatType>(from.element))
    x = clampSmall(s, x, integer);
  return encodeSmall(s.b, x, s.resultElement);
}

Value convert(Scalars &s) {
  if (s.resultElement != s.element && (isSmall(s.element) || isSmall(s.resultElement)))
    return convertSmall(s);
  Value x = s.args[0];
  Type to = bodyType(s.resultElement);
  if (s.resultElement == s.element)
    return x;
  if (to.isInteger(1))
    return toBool(s, x);
  bool fromFloat = isa<FloatType>(s.element), toFloat = isa<FloatType>(to);
  if (fromFloat)
    return toFloat ? floatToFloat(s, x, to) : floatToInt(s, x, to);
  return toFloat ? intToFloat(s, x, to) : intToInt(s, x, to);
}

//===----------------------------------------------------------------------===//
// Complex numbers: an integer whose low half is the real part.
//===----------------------------------------------------------------------===//

Value real(Scalars &s) {
  Type part = s.resultElement;
  Type half = IntegerType::get(s.b.getContext(), part.getIntOrFloatBitWidth());
  return arith::BitcastOp::create(s.b, part, arith::TruncIOp::create(s.b, half, s.args[0]));
}

Value imag(Scalars &s) {
  Type part = s.resultElement, whole = s.args[0].getType();
  Type half = IntegerType::get(s.b.getContext(), part.getIntOrFloatBitWidth());
  Value high = arith::ShRUIOp::create(s.b, s.args[0], intConstant(s.b, whole, part.getIntOrFloatBitWidth()));
  return arith::BitcastOp::create(s.b, part, arith::TruncIOp::create(s.b, half, high));
}

Value complex(Scalars &s) {
  unsigned width = s.element.getIntOrFloatBitWidth();
  Type half = IntegerType::get(s.b.getContext(), width), whole = bodyType(s.resultElement);
  auto bits = [&](Value part) -> Value {
    return arith::ExtUIOp::create(s.b, whole, arith::BitcastOp::create(s.b, half, part));
  };
  Value high = arith::ShLIOp::create(s.b, bits(s.args[1]), intConstant(s.b, whole, width));
  return arith::OrIOp::create(s.b, bits(s.args[0]), high);
}

Value bitcast(Scalars &s) {
  Type to = bodyType(s.resultElement);
  return s.args[0].getType() == to ? s.args[0] : arith::BitcastOp::create(s.b, to, s.args[0]).getResult();
}

} // namespace

ArrayRef<ElementwiseRow> array::conversionRows() {
  static const ElementwiseRow rows[] = {
      {ConvertOp::getOperationName(), convert}, {BitcastOp::getOperationName(), bitcast},
      {RealOp::getOperationName(), real},       {ImagOp::getOperationName(), imag},
      {ComplexOp::getOperationName(), complex},
  };
  return rows;
}

// Conversions of the small element types (i2, i4, floats of 8, 6 and 4 bits), which are stored in bytes: to and from
// f32 or i8 by operations on bits. The properties of a float format (widths, bias, infinities, nan) come from LLVM's
// description of it, so no format is named here.
#include "ElementwiseSmall.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Bit operations on i32 and f32.
struct Bits {
  ImplicitLocOpBuilder &b;

  Type i32() const { return b.getI32Type(); }
  Type f32() const { return b.getF32Type(); }
  Value integer(int64_t value) const { return intConstant(b, i32(), value); }
  Value shiftLeft(Value x, unsigned count) const { return arith::ShLIOp::create(b, x, integer(count)); }
  Value shiftRight(Value x, unsigned count) const { return arith::ShRUIOp::create(b, x, integer(count)); }
  Value masked(Value x, int64_t mask) const { return arith::AndIOp::create(b, x, integer(mask)); }
  Value joined(Value x, Value y) const { return arith::OrIOp::create(b, x, y); }
  Value plus(Value x, Value y) const { return arith::AddIOp::create(b, x, y); }
  Value minus(Value x, int64_t y) const { return arith::SubIOp::create(b, x, integer(y)); }
  Value is(arith::CmpIPredicate predicate, Value x, int64_t y) const {
    return arith::CmpIOp::create(b, predicate, x, integer(y));
  }
  Value select(Value condition, Value onTrue, Value onFalse) const {
    return arith::SelectOp::create(b, condition, onTrue, onFalse);
  }
  Value asFloat(Value x) const { return arith::BitcastOp::create(b, f32(), x); }
  Value asBits(Value x) const { return arith::BitcastOp::create(b, i32(), x); }
};

constexpr unsigned singleMantissa = 23;
constexpr int singleBias = 127;
constexpr int64_t singleInfinity = 0x7f800000, singleNan = 0x7fc00000, singleMagnitude = 0x7fffffff;

/// A float format with a sign and a zero: sign, exponent, mantissa from the top. Codes do not include the sign.
struct Format {
  unsigned bits, mantissa;
  int bias;
  int64_t largest;                 // the maximum finite code
  std::optional<int64_t> infinity; // its code
  std::optional<int64_t> nan;      // the code of a nan, including the sign bit if only that makes it a nan
  bool hasNegativeZero;

  explicit Format(const llvm::fltSemantics &semantics)
      : bits(APFloat::semanticsSizeInBits(semantics)), mantissa(APFloat::semanticsPrecision(semantics) - 1),
        bias(1 - APFloat::semanticsMinExponent(semantics)),
        largest(APFloat::getLargest(semantics).bitcastToAPInt().getZExtValue()), hasNegativeZero(true) {
    if (APFloat::semanticsHasInf(semantics))
      infinity = APFloat::getInf(semantics).bitcastToAPInt().getZExtValue();
    if (APFloat::semanticsHasNaN(semantics))
      nan = APFloat::getNaN(semantics).bitcastToAPInt().getZExtValue();
    if (nan)
      hasNegativeZero = *nan != sign();
  }

  int64_t sign() const { return int64_t(1) << (bits - 1); }
};

const llvm::fltSemantics &semanticsOf(Type small) { return cast<FloatType>(small).getFloatSemantics(); }

/// A power of two.
Value power(const Bits &b, int exponent) { return constant(b.b, b.f32(), std::ldexp(1.0, exponent)); }

/// The exponent and mantissa move to their positions in an f32. The multiplication corrects the bias, also of
/// denormals.
Value decode(const Bits &b, Value code, const Format &format) {
  Value magnitude = b.masked(code, format.sign() - 1);
  Value moved = b.asFloat(b.shiftLeft(magnitude, singleMantissa - format.mantissa));
  Value bits = b.asBits(arith::MulFOp::create(b.b, moved, power(b, singleBias - format.bias)));
  using Predicate = arith::CmpIPredicate;
  if (format.infinity) {
    Value isInfinite = b.is(Predicate::eq, magnitude, *format.infinity);
    Value isNan = b.is(Predicate::ugt, magnitude, *format.infinity);
    bits = b.select(isInfinite, b.integer(singleInfinity), b.select(isNan, b.integer(singleNan), bits));
  } else if (format.nan) {
    Value isNan = b.is(Predicate::eq, format.hasNegativeZero ? magnitude : code, *format.nan);
    bits = b.select(isNan, b.integer(singleNan), bits);
  }
  Value sign = b.shiftLeft(b.masked(code, format.sign()), 32 - format.bits);
  return b.asFloat(b.joined(bits, sign));
}

/// Rounds to nearest, ties to even: normal numbers by an addition to their bits, denormal ones by adding a float that
/// leaves just their mantissa.
Value encode(const Bits &b, Value x, const Format &format) {
  using Predicate = arith::CmpIPredicate;
  Value all = b.asBits(x), bits = b.masked(all, singleMagnitude);
  unsigned dropped = singleMantissa - format.mantissa;
  Value odd = b.masked(b.shiftRight(bits, dropped), 1);
  Value rounded = b.plus(b.plus(bits, odd), b.integer((int64_t(1) << (dropped - 1)) - 1));
  Value normal = b.minus(b.shiftRight(rounded, dropped), int64_t(singleBias - format.bias) << format.mantissa);
  int quantum = 1 - format.bias - int(format.mantissa); // the exponent of the smallest denormal
  Value magic = power(b, quantum + int(singleMantissa));
  Value denormal =
      arith::SubIOp::create(b.b, b.asBits(arith::AddFOp::create(b.b, b.asFloat(bits), magic)), b.asBits(magic));
  int64_t leastNormal = int64_t(singleBias + 1 - format.bias) << singleMantissa;
  Value code = b.select(b.is(Predicate::ult, bits, leastNormal), denormal, normal);

  Value sign = b.masked(b.shiftRight(all, 32 - format.bits), format.sign());
  Value isNan = b.is(Predicate::ugt, bits, singleInfinity);
  Value isLarge = b.is(Predicate::ugt, code, format.largest);
  if (format.infinity) {
    code = b.select(isLarge, b.integer(*format.infinity), code);
    code = b.select(isNan, b.integer(*format.nan), code);
  } else if (format.nan) {
    code = b.select(arith::OrIOp::create(b.b, isLarge, isNan), b.integer(*format.nan), code);
  } else {
    code = b.select(isLarge, b.integer(format.largest), code);
    code = b.select(isNan, b.integer(format.sign()), code); // no nan: the code of the negative zero
    return arith::XOrIOp::create(b.b, code, sign);
  }
  if (format.hasNegativeZero)
    return b.joined(code, sign);
  Value isZero = b.is(Predicate::eq, code, 0);
  return b.joined(code, b.select(isZero, b.integer(0), sign));
}

/// A power of two without sign, zero and mantissa (e8m0): an f32's exponent, except for 2^-127.
constexpr int64_t scaleNan = 0xff, leastScale = 0x400000;

Value decodeScale(const Bits &b, Value code) {
  using Predicate = arith::CmpIPredicate;
  Value bits = b.select(b.is(Predicate::eq, code, 0), b.integer(leastScale), b.shiftLeft(code, singleMantissa));
  return b.asFloat(b.select(b.is(Predicate::eq, code, scaleNan), b.integer(singleNan), bits));
}

/// To the nearest, ties up; nan if not positive.
Value encodeScale(const Bits &b, Value x) {
  using Predicate = arith::CmpIPredicate;
  Value bits = b.asBits(x);
  Value isDenormal = b.is(Predicate::ult, bits, int64_t(1) << singleMantissa);
  Value half = b.select(isDenormal, b.integer(leastScale / 2), b.integer(leastScale));
  Value code = b.shiftRight(b.plus(bits, half), singleMantissa);
  Value isPositive =
      arith::AndIOp::create(b.b, b.is(Predicate::sgt, bits, 0), b.is(Predicate::slt, bits, singleInfinity));
  return b.select(isPositive, code, b.integer(scaleNan));
}

} // namespace

Value array::decodeSmall(ImplicitLocOpBuilder &b, Value byte, Type small) {
  if (auto integer = dyn_cast<IntegerType>(small)) {
    Value unused = intConstant(b, b.getI8Type(), 8 - integer.getWidth());
    Value top = arith::ShLIOp::create(b, byte, unused);
    return integer.isUnsigned() ? arith::ShRUIOp::create(b, top, unused).getResult()
                                : arith::ShRSIOp::create(b, top, unused).getResult();
  }
  Bits bits{b};
  Value code = arith::ExtUIOp::create(b, bits.i32(), byte);
  const llvm::fltSemantics &semantics = semanticsOf(small);
  return APFloat::semanticsHasZero(semantics) ? decode(bits, code, Format(semantics)) : decodeScale(bits, code);
}

Value array::encodeSmall(ImplicitLocOpBuilder &b, Value x, Type small) {
  if (auto integer = dyn_cast<IntegerType>(small))
    return arith::AndIOp::create(b, x, intConstant(b, b.getI8Type(), (1 << integer.getWidth()) - 1));
  Bits bits{b};
  const llvm::fltSemantics &semantics = semanticsOf(small);
  Value code = APFloat::semanticsHasZero(semantics) ? encode(bits, x, Format(semantics)) : encodeScale(bits, x);
  return arith::TruncIOp::create(b, b.getI8Type(), code);
}

// array-expand-complex: functions of one complex number, by formulas in real ones. Branch cuts lie along the axes as in
// NumPy and C99, and the sign of a zero selects the side. Each part is accurate by itself, unless it is a difference of
// numbers that nearly cancel; infinities and nans are those of C99's Annex G.
//
// Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit" (1987).
#include "ExpandComplex.h"

using namespace mlir;
using namespace mlir::array;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// log 2 has an upper part of 12 bits, so that products with the upper half of a number are exact.
constexpr double logTwo = 0.6931471805599453, upperLogTwo = 0x1.62ep-1, lowerLogTwo = 3.194618494530941723e-5;

Value isInfinite(PartBuilder &b, Value x) { return b.equal(b.abs(x), b.number(x, infinity)); }
Value isZero(PartBuilder &b, Value x) { return b.equal(x, b.number(x, 0)); }
Value isAbove(PartBuilder &b, Value x, double bound) { return b.less(b.number(x, bound), x); }
Value times(PartBuilder &b, Value x, double factor) { return b.mul(x, b.number(x, factor)); }
Value plus(PartBuilder &b, Value x, double summand) { return b.add(x, b.number(x, summand)); }

/// Whether the imaginary part is not an angle: infinite, or nan.
Value hasNoAngle(PartBuilder &b, Parts z) { return b.make<NotOp>(b.less(b.abs(z.im), b.number(z.im, infinity))); }

/// i z and -i z.
Parts turned(PartBuilder &b, Parts z) { return {b.neg(z.im), z.re}; }
Parts turnedBack(PartBuilder &b, Parts z) { return {z.im, b.neg(z.re)}; }

/// x as a sum of its upper half, whose square is exact, and the rest.
struct Halves {
  Value upper, lower;
};

Halves halves(PartBuilder &b, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  bool isDouble = type.getElementType().isF64();
  Value upper = b.masked(x, isDouble ? ~uint64_t(0) << 27 : uint64_t(0xFFFFF000));
  return {upper, b.sub(x, upper)};
}

/// The square of x minus the square of its upper half.
Value restOfSquare(PartBuilder &b, Halves x) { return b.mul(x.lower, b.add(times(b, x.upper, 2), x.lower)); }

/// |1 + x + iy|^2 - 1 = 2 x + x^2 + y^2 for |x| at most 1: terms that cancel do so exactly.
Value excess(PartBuilder &b, Value x, Value y) {
  Halves xHalves = halves(b, x), yHalves = halves(b, y);
  Value great = b.add(b.add(times(b, x, 2), b.mul(yHalves.upper, yHalves.upper)), b.mul(xHalves.upper, xHalves.upper));
  return b.add(great, b.add(restOfSquare(b, xHalves), restOfSquare(b, yHalves)));
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// Above this, exp(x) may overflow before it is multiplied by a small factor, so e^38 is factored out.
constexpr double largeExponent = 64, taken = 38, expOfTaken = 3.1855931757113756e16;

/// value * factor is exp(x).
struct Exponential {
  Value value, factor;
};

Exponential exponential(PartBuilder &b, Value x) {
  Value isLarge = isAbove(b, x, largeExponent);
  Value value = b.make<ExpOp>(b.select(isLarge, plus(b, x, -taken), x));
  return {value, b.select(isLarge, b.number(x, expOfTaken), b.number(x, 1))};
}

/// Corrects an exponential with the parts `whole` in special cases: infinite real exponents with an undefined angle,
/// and angles of zero, which stay zero.
Parts withCorners(PartBuilder &b, Parts z, Parts whole) {
  Value zero = b.number(z.re, 0), noAngle = hasNoAngle(b, z);
  Value isHigh = b.both(noAngle, b.equal(z.re, b.number(z.re, infinity)));
  Value isLow = b.both(noAngle, b.equal(z.re, b.number(z.re, -infinity)));
  Value re = b.select(isLow, zero, b.select(isHigh, z.re, whole.re));
  Value im = b.select(isLow, zero, b.select(isZero(b, z.im), z.im, whole.im));
  return {re, im};
}

Parts exp(PartBuilder &b, Parts z) {
  Exponential e = exponential(b, z.re);
  Value re = b.mul(b.mul(e.value, b.make<CosOp>(z.im)), e.factor);
  Value im = b.mul(b.mul(e.value, b.make<SinOp>(z.im)), e.factor);
  return withCorners(b, z, {re, im});
}

/// 2^z = exp(z log 2): the magnitude by exp2, with 2^64 factored out of large ones; the angle with a correction of its
/// rounding error.
Parts exp2(PartBuilder &b, Parts z) {
  Value isLarge = isAbove(b, z.re, 96);
  Value magnitude = b.make<Exp2Op>(b.select(isLarge, plus(b, z.re, -64), z.re));
  Value factor = b.select(isLarge, b.number(z.re, 0x1p64), b.number(z.re, 1));
  Halves y = halves(b, z.im);
  Value angle = times(b, z.im, logTwo);
  Value rest = b.add(b.sub(times(b, y.upper, upperLogTwo), angle),
                     b.add(times(b, y.lower, upperLogTwo), times(b, z.im, lowerLogTwo)));
  Value sine = b.make<SinOp>(angle), cosine = b.make<CosOp>(angle);
  Value re = b.mul(b.mul(magnitude, b.sub(cosine, b.mul(rest, sine))), factor);
  Value im = b.mul(b.mul(magnitude, b.add(sine, b.mul(rest, cosine))), factor);
  return withCorners(b, z, {re, im});
}

/// exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y/2)^2.
Parts expm1(PartBuilder &b, Parts z) {
  Parts whole = exp(b, z);
  Value half = b.make<SinOp>(times(b, z.im, 0.5));
  Value near = b.sub(b.mul(b.make<Expm1Op>(z.re), b.make<CosOp>(z.im)), times(b, b.mul(half, half), 2));
  return {b.select(isAbove(b, b.abs(z.re), 1), plus(b, whole.re, -1), near), whole.im};
}

/// sinh and cosh of a real number, each times `factor`.
struct Hyperbolic {
  Value sinh, cosh, factor;
};

Hyperbolic hyperbolic(PartBuilder &b, Value x) {
  Value size = b.abs(x), isLarge = isAbove(b, size, largeExponent);
  Value above = b.make<Expm1Op>(b.select(isLarge, plus(b, size, -taken), size));
  Value grown = plus(b, above, 1), shrunk = b.div(b.number(x, 1), grown);
  Value sinh = times(b, b.add(above, b.div(above, grown)), 0.5), cosh = times(b, b.add(grown, shrunk), 0.5);
  Value far = times(b, grown, 0.5);
  return {b.copySign(b.select(isLarge, far, sinh), x), b.select(isLarge, far, cosh),
          b.select(isLarge, b.number(x, expOfTaken), b.number(x, 1))};
}

/// sinh x cos y + i cosh x sin y
Parts sinh(PartBuilder &b, Parts z) {
  Hyperbolic h = hyperbolic(b, z.re);
  Value re = b.mul(b.mul(h.sinh, b.make<CosOp>(z.im)), h.factor);
  Value im = b.mul(b.mul(h.cosh, b.make<SinOp>(z.im)), h.factor);
  // With an undefined angle, a real part that is zero or infinite stays.
  Value stays = b.both(b.either(isZero(b, z.re), isInfinite(b, z.re)), hasNoAngle(b, z));
  return {b.select(stays, z.re, re), b.select(isZero(b, z.im), z.im, im)};
}

/// cosh x cos y + i sinh x sin y
Parts cosh(PartBuilder &b, Parts z) {
  Hyperbolic h = hyperbolic(b, z.re);
  Value re = b.mul(b.mul(h.cosh, b.make<CosOp>(z.im)), h.factor);
  Value im = b.mul(b.mul(h.sinh, b.make<SinOp>(z.im)), h.factor);
  Value flat = b.copySign(b.number(z.im, 0), b.mul(b.copySign(b.number(z.re, 1), z.re), z.im));
  Value noAngle = hasNoAngle(b, z), isEndless = b.both(isInfinite(b, z.re), noAngle);
  Value isFlat = b.either(isZero(b, z.im), b.both(isZero(b, z.re), noAngle));
  return {b.select(isEndless, b.abs(z.re), re), b.select(isFlat, flat, im)};
}

/// With t = tan y, s = sinh x: (s sqrt(1 + s^2) (1 + t^2) + i t) / (1 + s^2 (1 + t^2)).
Parts tanh(PartBuilder &b, Parts z) {
  Value size = b.abs(z.re), isFar = isAbove(b, size, 20);
  Value t = b.make<TanOp>(z.im), beta = plus(b, b.mul(t, t), 1);
  Value s = hyperbolic(b, b.select(isFar, b.number(size, 0), z.re)).sinh, square = b.mul(s, s);
  Value divisor = plus(b, b.mul(beta, square), 1);
  Value re = b.div(b.mul(beta, b.mul(b.sqrt(plus(b, square, 1)), s)), divisor), im = b.div(t, divisor);
  // 4 sin y cos y / e^2|x|; an infinite real part with an undefined angle gives a zero.
  Value cross = times(b, b.mul(b.make<SinOp>(z.im), b.make<CosOp>(z.im)), 4);
  Value far = b.mul(cross, b.make<ExpOp>(times(b, size, -2)));
  Value noAngle = hasNoAngle(b, z), isEndless = isInfinite(b, z.re), one = b.copySign(b.number(far, 1), z.re);
  far = b.select(b.both(isEndless, noAngle), b.copySign(b.number(far, 0), z.im), far);
  // A finite exponent with an undefined angle has an undefined result: beta is nan.
  one = b.select(isEndless, one, b.select(noAngle, beta, one));
  // On the axes one part is zero for any value of the other.
  re = b.select(isFar, one, b.select(isZero(b, z.re), z.re, re));
  return {re, b.select(isZero(b, z.im), z.im, b.select(isFar, far, im))};
}

Parts sin(PartBuilder &b, Parts z) { return turnedBack(b, sinh(b, turned(b, z))); }
Parts cos(PartBuilder &b, Parts z) { return cosh(b, turned(b, z)); }
Parts tan(PartBuilder &b, Parts z) { return turnedBack(b, tanh(b, turned(b, z))); }

Parts one(PartBuilder &b, Parts z) { return {b.number(z.re, 1), b.number(z.re, 0)}; }
Parts onePlus(PartBuilder &b, Parts z) { return {plus(b, z.re, 1), z.im}; }

/// 1 / (1 + exp(-z))
Parts logistic(PartBuilder &b, Parts z) { return b.quotient(one(b, z), onePlus(b, exp(b, b.negative(z)))); }

//===----------------------------------------------------------------------===//
// Logarithms, roots, powers
//===----------------------------------------------------------------------===//

/// log |z|: near 1 from |z|^2 - 1, elsewhere from the larger part and the ratio of the parts.
Value logMagnitude(PartBuilder &b, Parts z) {
  Value x = b.abs(z.re), y = b.abs(z.im), big = b.max(x, y), small = b.min(x, y);
  Value near = times(b, b.make<Log1pOp>(excess(b, plus(b, big, -1), small)), 0.5);
  Value ratio = b.div(small, b.select(isZero(b, big), b.number(big, 1), big));
  Value far = b.add(b.make<LogOp>(big), times(b, b.make<Log1pOp>(b.mul(ratio, ratio)), 0.5));
  Value isNear = b.both(isAbove(b, big, 0.5), b.less(big, b.number(big, 2)));
  Value anyInfinite = b.either(isInfinite(b, x), isInfinite(b, y));
  return b.select(anyInfinite, b.number(big, infinity), b.select(isNear, near, far));
}

Value angle(PartBuilder &b, Parts z) { return b.make<Atan2Op>(z.im, z.re); }

Parts log(PartBuilder &b, Parts z) { return {logMagnitude(b, z), angle(b, z)}; }

Parts log1p(PartBuilder &b, Parts z) {
  Value near = times(b, b.make<Log1pOp>(excess(b, z.re, z.im)), 0.5);
  Value isNear = b.less(b.max(b.abs(z.re), b.abs(z.im)), b.number(z.re, 0.5));
  Parts moved = onePlus(b, z);
  return {b.select(isNear, near, logMagnitude(b, moved)), angle(b, moved)};
}

/// With t = sqrt((|x| + |z|) / 2): t + i y/2t right of the imaginary axis, |y|/2t +- i t left of it. Very large and
/// very small numbers are first scaled by a power of four.
Parts sqrt(PartBuilder &b, Parts z) {
  Value size = b.max(b.abs(z.re), b.abs(z.im));
  bool isDouble = getElementTypeOrSelf(size.getType()).isF64();
  Value isHuge = isAbove(b, size, isDouble ? 0x1p1020 : 0x1p124);
  Value isTiny = b.less(size, b.number(size, isDouble ? 0x1p-900 : 0x1p-80));
  double up = isDouble ? 0x1p200 : 0x1p60, rootOfUp = isDouble ? 0x1p-100 : 0x1p-30;
  Value one = b.number(size, 1);
  Value scale = b.select(isHuge, b.number(size, 0x1p-4), b.select(isTiny, b.number(size, up), one));
  Value back = b.select(isHuge, b.number(size, 4), b.select(isTiny, b.number(size, rootOfUp), one));
  Parts w{b.mul(z.re, scale), b.mul(z.im, scale)};
  Value t = b.sqrt(times(b, b.add(b.abs(w.re), b.magnitude(w)), 0.5));
  Value other = b.div(b.abs(w.im), times(b, t, 2));
  Value isLeft = b.less(z.re, b.number(z.re, 0));
  Value re = b.mul(b.select(isLeft, other, t), back);
  Value im = b.copySign(b.mul(b.select(isLeft, t, other), back), z.im);
  // Special cases: zero, an infinite imaginary part, an infinite real part.
  Value zero = b.number(size, 0), unbounded = b.number(size, infinity);
  Value isOrigin = isZero(b, size), tall = isInfinite(b, z.im), wide = isInfinite(b, z.re);
  Value hasNan = b.isNan(z.im);
  Value wideRe = b.select(isLeft, b.select(hasNan, z.im, zero), unbounded);
  Value wideIm = b.select(isLeft, b.copySign(unbounded, z.im), b.select(hasNan, z.im, b.copySign(zero, z.im)));
  re = b.select(isOrigin, zero, b.select(tall, unbounded, b.select(wide, wideRe, re)));
  im = b.select(isOrigin, z.im, b.select(tall, z.im, b.select(wide, wideIm, im)));
  return {re, im};
}

Parts rsqrt(PartBuilder &b, Parts z) { return b.quotient(one(b, z), sqrt(b, z)); }

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

constexpr bool isWhole = true;
const PartRow rows[] = {
    {ExpOp::getOperationName(), exp},
    {Exp2Op::getOperationName(), exp2},
    {Expm1Op::getOperationName(), expm1, isWhole},
    {LogOp::getOperationName(), log},
    {Log1pOp::getOperationName(), log1p, isWhole},
    {SinOp::getOperationName(), sin},
    {CosOp::getOperationName(), cos},
    {TanOp::getOperationName(), tan, isWhole},
    {TanhOp::getOperationName(), tanh, isWhole},
    {SqrtOp::getOperationName(), sqrt, isWhole},
    {RsqrtOp::getOperationName(), rsqrt, isWhole},
    {LogisticOp::getOperationName(), logistic, isWhole},
};

} // namespace

ArrayRef<PartRow> array::complexFunctions() { return rows; }

/// exp(y log x). For a zero base: one to the power zero, else zero if the exponent has a positive real part. A real
/// exponent is not used as a complex factor, because its zero part times an infinite logarithm would be nan.
Parts array::complexPower(PartBuilder &b, Parts base, Parts exponent) {
  Parts logarithm = log(b, base), product = b.product(exponent, logarithm);
  Parts scaled{b.mul(exponent.re, logarithm.re), b.mul(exponent.re, logarithm.im)};
  Parts power = exp(b, b.select(isZero(b, exponent.im), scaled, product));
  Value zero = b.number(base.re, 0);
  Value ofZero = b.both(isZero(b, base.re), isZero(b, base.im));
  Value toZero = b.both(isZero(b, exponent.re), isZero(b, exponent.im));
  Value vanishes = b.both(ofZero, b.less(zero, exponent.re));
  Parts result = b.select(vanishes, Parts{zero, zero}, power);
  return b.select(toZero, one(b, base), result);
}

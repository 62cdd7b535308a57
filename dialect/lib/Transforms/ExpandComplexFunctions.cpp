// array-expand-complex: functions of one complex number, by formulas in real ones. Cuts lie along the axes where NumPy
// and C99 have them, and the sign of a zero chooses the side. Accuracy is that of the value as a whole: where a part is
// small beside the other, its own last digits may be lost.
//
// Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit" (1987).
#include "ExpandComplex.h"

using namespace mlir;
using namespace mlir::array;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double logTwo = 0.6931471805599453;

Value isInfinite(PartBuilder &b, Value x) { return b.equal(b.abs(x), b.number(x, infinity)); }
Value isZero(PartBuilder &b, Value x) { return b.equal(x, b.number(x, 0)); }
Value isAbove(PartBuilder &b, Value x, double bound) { return b.less(b.number(x, bound), x); }
Value times(PartBuilder &b, Value x, double factor) { return b.mul(x, b.number(x, factor)); }
Value plus(PartBuilder &b, Value x, double summand) { return b.add(x, b.number(x, summand)); }

/// i z and -i z.
Parts turned(PartBuilder &b, Parts z) { return {b.neg(z.im), z.re}; }
Parts turnedBack(PartBuilder &b, Parts z) { return {z.im, b.neg(z.re)}; }

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// Above this exp(x) may overflow before it is multiplied by something small: e^32 is then taken out of it.
constexpr double largeExponent = 64, taken = 32, expOfTaken = 7.896296018268069e13;

/// value * factor is exp(x).
struct Exponential {
  Value value, factor;
};

Exponential exponential(PartBuilder &b, Value x) {
  Value isLarge = isAbove(b, x, largeExponent);
  Value value = b.make<ExpOp>(b.select(isLarge, plus(b, x, -taken), x));
  return {value, b.select(isLarge, b.number(x, expOfTaken), b.number(x, 1))};
}

Parts exp(PartBuilder &b, Parts z) {
  Exponential e = exponential(b, z.re);
  Value re = b.mul(b.mul(e.value, b.make<CosOp>(z.im)), e.factor);
  Value im = b.mul(b.mul(e.value, b.make<SinOp>(z.im)), e.factor);
  // Infinite exponents with an angle that says nothing.
  Value zero = b.number(z.re, 0), noAngle = b.either(isInfinite(b, z.im), b.isNan(z.im));
  Value isHigh = b.both(noAngle, b.equal(z.re, b.number(z.re, infinity)));
  Value isLow = b.both(noAngle, b.equal(z.re, b.number(z.re, -infinity)));
  re = b.select(isLow, zero, b.select(isHigh, z.re, re));
  im = b.select(isLow, zero, b.select(isZero(b, z.im), z.im, im));
  return {re, im};
}

/// 2^z = exp(z log 2): the magnitude by exp2 itself.
Parts exp2(PartBuilder &b, Parts z) {
  Value magnitude = b.make<Exp2Op>(z.re), angle = times(b, z.im, logTwo);
  Value im = b.mul(magnitude, b.make<SinOp>(angle));
  return {b.mul(magnitude, b.make<CosOp>(angle)), b.select(isZero(b, z.im), z.im, im)};
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
  return {b.select(isZero(b, z.re), z.re, re), b.select(isZero(b, z.im), z.im, im)};
}

/// cosh x cos y + i sinh x sin y
Parts cosh(PartBuilder &b, Parts z) {
  Hyperbolic h = hyperbolic(b, z.re);
  Value re = b.mul(b.mul(h.cosh, b.make<CosOp>(z.im)), h.factor);
  Value im = b.mul(b.mul(h.sinh, b.make<SinOp>(z.im)), h.factor);
  Value flat = b.copySign(b.number(z.im, 0), b.mul(b.copySign(b.number(z.re, 1), z.re), z.im));
  return {re, b.select(b.either(isZero(b, z.re), isZero(b, z.im)), flat, im)};
}

/// With t = tan y, s = sinh x: (s sqrt(1 + s^2) (1 + t^2) + i t) / (1 + s^2 (1 + t^2)).
Parts tanh(PartBuilder &b, Parts z) {
  Value size = b.abs(z.re), isFar = isAbove(b, size, 20);
  Value t = b.make<TanOp>(z.im), beta = plus(b, b.mul(t, t), 1);
  Value s = hyperbolic(b, b.select(isFar, b.number(size, 0), z.re)).sinh, square = b.mul(s, s);
  Value divisor = plus(b, b.mul(beta, square), 1);
  Value re = b.div(b.mul(beta, b.mul(b.sqrt(plus(b, square, 1)), s)), divisor), im = b.div(t, divisor);
  // 4 sin y cos y / e^2|x|; an infinite real part with no angle leaves a zero.
  Value cross = times(b, b.mul(b.make<SinOp>(z.im), b.make<CosOp>(z.im)), 4);
  Value far = b.mul(cross, b.make<ExpOp>(times(b, size, -2)));
  Value known = b.select(isInfinite(b, z.im), b.copySign(b.number(far, 0), z.im), far);
  far = b.select(isInfinite(b, z.re), known, far);
  Value farIm = b.select(isZero(b, z.im), z.im, far);
  return {b.select(isFar, b.copySign(b.number(re, 1), z.re), re), b.select(isFar, farIm, im)};
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

/// log |z|: near 1 from (|z| - 1)(|z| + 1), elsewhere from the greater part and the ratio of the parts.
Value logMagnitude(PartBuilder &b, Parts z) {
  Value x = b.abs(z.re), y = b.abs(z.im), big = b.max(x, y), small = b.min(x, y);
  Value excess = b.add(b.mul(plus(b, big, -1), plus(b, big, 1)), b.mul(small, small));
  Value near = times(b, b.make<Log1pOp>(excess), 0.5);
  Value ratio = b.div(small, b.select(isZero(b, big), b.number(big, 1), big));
  Value far = b.add(b.make<LogOp>(big), times(b, b.make<Log1pOp>(b.mul(ratio, ratio)), 0.5));
  Value isNear = b.both(isAbove(b, big, 0.5), b.less(big, b.number(big, 2)));
  Value anyInfinite = b.either(isInfinite(b, x), isInfinite(b, y));
  return b.select(anyInfinite, b.number(big, infinity), b.select(isNear, near, far));
}

Value angle(PartBuilder &b, Parts z) { return b.make<Atan2Op>(z.im, z.re); }

Parts log(PartBuilder &b, Parts z) { return {logMagnitude(b, z), angle(b, z)}; }

/// |1 + z|^2 - 1 = x (2 + x) + y^2 where z is small.
Parts log1p(PartBuilder &b, Parts z) {
  Value excess = b.add(b.mul(z.re, plus(b, z.re, 2)), b.mul(z.im, z.im));
  Value near = times(b, b.make<Log1pOp>(excess), 0.5);
  Value isNear = b.less(b.max(b.abs(z.re), b.abs(z.im)), b.number(z.re, 0.5));
  Parts moved = onePlus(b, z);
  return {b.select(isNear, near, logMagnitude(b, moved)), angle(b, moved)};
}

/// With t = sqrt((|x| + |z|) / 2): t + i y/2t right of the imaginary axis, |y|/2t +- i t left of it. Very large and
/// very small numbers are scaled by a power of four first.
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
  // Corners: zero, an infinite imaginary part, an infinite real part.
  Value zero = b.number(size, 0), unbounded = b.number(size, infinity);
  Value isOrigin = isZero(b, size), tall = isInfinite(b, z.im), wide = isInfinite(b, z.re);
  Value hasNan = b.isNan(z.im);
  Value wideRe = b.select(isLeft, b.select(hasNan, z.im, zero), unbounded);
  Value wideIm = b.select(hasNan, z.im, b.copySign(b.select(isLeft, unbounded, zero), z.im));
  re = b.select(isOrigin, zero, b.select(tall, unbounded, b.select(wide, wideRe, re)));
  im = b.select(isOrigin, z.im, b.select(tall, z.im, b.select(wide, wideIm, im)));
  return {re, im};
}

Parts rsqrt(PartBuilder &b, Parts z) { return b.quotient(one(b, z), sqrt(b, z)); }

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

const PartRow rows[] = {
    {ExpOp::getOperationName(), exp},     {Exp2Op::getOperationName(), exp2},
    {Expm1Op::getOperationName(), expm1}, {LogOp::getOperationName(), log},
    {Log1pOp::getOperationName(), log1p}, {SinOp::getOperationName(), sin},
    {CosOp::getOperationName(), cos},     {TanOp::getOperationName(), tan},
    {TanhOp::getOperationName(), tanh},   {SqrtOp::getOperationName(), sqrt},
    {RsqrtOp::getOperationName(), rsqrt}, {LogisticOp::getOperationName(), logistic},
};

} // namespace

ArrayRef<PartRow> array::complexFunctions() { return rows; }

/// exp(y log x). Of zero: one to the power zero, else zero where the exponent has a positive real part.
Parts array::complexPower(PartBuilder &b, Parts base, Parts exponent) {
  Parts power = exp(b, b.product(exponent, log(b, base)));
  Value zero = b.number(base.re, 0);
  Value ofZero = b.both(isZero(b, base.re), isZero(b, base.im));
  Value toZero = b.both(isZero(b, exponent.re), isZero(b, exponent.im));
  Value vanishes = b.both(ofZero, b.less(zero, exponent.re));
  Parts result = b.select(vanishes, Parts{zero, zero}, power);
  return b.select(toZero, one(b, base), result);
}

// Logarithms and roots in f32: log, log1p, rsqrt, cbrt.
#include "ExpandMathTerm.h"

#include <limits>

namespace mlir::array {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallestNormal = 0x1p-126;

/// x = 2^exponent * (1 + fraction), with 1 + fraction from sqrt(1/2) to sqrt(2).
struct Split {
  Term exponent;
  Term fraction;
};

Split splitExponent(Term x) {
  constexpr int64_t sqrtHalfBits = 0x3F3504F3;
  Term bits = x.bits();
  Term exponent = (bits - bits.likeInt(sqrtHalfBits)) >> 23;
  return {exponent, (bits - (exponent << 23)).asFloat() - 1.0};
}

/// exponent * ln 2 + log(1 + fraction) + correction. The polynomial and the two parts of ln 2 (the first is exact when
/// multiplied by an exponent) are those of S. L. Moshier's Cephes library (logf), 1992.
Term joinLogarithm(Term exponent, Term fraction, Term correction) {
  Term square = fraction * fraction;
  Term tail =
      polynomial(fraction, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                            -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Term sum = fma(tail, fraction * square, correction);
  sum = fma(exponent, -2.12194440e-4, sum);
  sum = fraction + fma(square, -0.5, sum);
  return fma(exponent, 0.693359375, sum);
}

} // namespace

Term expandLog(Term x) {
  // Denormals are scaled to be normal.
  Term isDenormal = x < smallestNormal;
  Split split = splitExponent(select(isDenormal, x * 0x1p23, x));
  Term exponent = toFloat(split.exponent);
  exponent = select(isDenormal, exponent - 23.0, exponent);
  Term result = joinLogarithm(exponent, split.fraction, x.like(0.0));
  Term nan = x.like(std::numeric_limits<double>::quiet_NaN());
  result = select(x > 0.0, result, select(x == 0.0, x.like(-infinity), nan));
  return select(x == infinity, x, result);
}

// log(1 + x) as the logarithm of the rounded u = 1 + x plus (1 + x - u) / u; near zero x itself is the fraction.
Term expandLog1p(Term x) {
  Term u = x + 1.0;
  Split split = splitExponent(u);
  Term lost = select(x > 1.0, x.like(1.0) - (u - x), x - (u - 1.0));
  Term isNear = isZero(split.exponent);
  Term fraction = select(isNear, x, split.fraction);
  Term correction = select(isNear, x.like(0.0), lost / u);
  Term result = joinLogarithm(toFloat(split.exponent), fraction, correction);
  Term nan = x.like(std::numeric_limits<double>::quiet_NaN());
  result = select(x > -1.0, result, select(x == -1.0, x.like(-infinity), nan));
  return select((x == infinity) | (x == 0.0), x, result);
}

Term expandRsqrt(Term x) { return x.like(1.0) / sqrt(x); }

// A third of the bits is a first guess to 5 bits (W. Kahan, "Computing a real cube root", 1991); each of Halley's steps
// triples them. The steps are written as corrections with a fused residual, and in quarters, so that 3a does not
// overflow.
Term expandCbrt(Term x) {
  Term magnitude = abs(x);
  Term isSmall = magnitude < 0x1p-60;
  Term a = select(isSmall, magnitude * 0x1p96, magnitude);
  Term third = toFloat(a.bits()) * (1.0 / 3.0) + 709958130.0;
  Term root = third.of(arith::FPToSIOp::create(*x.b, third.typeWith(x.b->getI32Type()), third.value)).asFloat();
  Term quarter = a * 0.25;
  for (int step = 0; step < 2; ++step) {
    Term square = root * root;
    Term residual = fma(square * -0.25, root, quarter);
    root = fma(residual / fma(square * 0.5, root, quarter), root, root);
  }
  root = select(isSmall, root * 0x1p-32, root);
  Term isSpecial = (magnitude == 0.0) | (magnitude == infinity) | isNan(x);
  return select(isSpecial, x, copysign(root, x));
}

} // namespace mlir::array

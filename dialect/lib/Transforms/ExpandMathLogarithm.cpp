// Logarithms and the inverse hyperbolic functions, which are logarithms: log, log2, log10, log1p, asinh, acosh, atanh.
// Coefficients for f64 are minimax fits of relative error.
#include "ExpandMathTerm.h"

#include <limits>
#include <optional>

namespace mlir::array {

namespace {

constexpr double log2e = 1.44269504088896340736;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNan = std::numeric_limits<double>::quiet_NaN();

/// x = 2^exponent * (1 + fraction), with 1 + fraction from sqrt(1/2) to sqrt(2).
struct Split {
  Term exponent;
  Term fraction;
};

Split splitExponent(Term x) {
  int64_t sqrtHalfBits = x.either<int64_t>(0x3FE6A09E667F3BCD, 0x3F3504F3);
  Term bits = x.bits();
  Term exponent = (bits - bits.likeInt(sqrtHalfBits)) >> x.fractionBits();
  return {exponent, (bits - (exponent << x.fractionBits())).asFloat() - 1.0};
}

/// log(1 + fraction) = f - (f^2/2 - rest). In f64, with s = f / (2 + f), it is 2 artanh(s) = 2s + s^3 T(s^2), and 2s is
/// f - f^2/2 + s f^2/2. In f32 it is a polynomial without a division, that of S. L. Moshier's Cephes library (logf),
/// 1992.
struct FractionLogarithm {
  Term half;
  Term rest;
};

FractionLogarithm splitLogarithm(Term fraction, std::optional<Term> correction = std::nullopt) {
  Term square = fraction * fraction;
  if (!fraction.isWide()) {
    Term tail =
        polynomial(fraction, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                              -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
    Term cube = fraction * square;
    return {square * 0.5, correction ? fma(tail, cube, *correction) : tail * cube};
  }
  Term s = fraction / (fraction + 2.0);
  Term squareOfS = s * s;
  Term tail = polynomial(squareOfS, {0.1479634192039731, 0.15314011719799572, 0.1818356582542357, 0.22222198544820404,
                                     0.28571428742657456, 0.39999999999413505, 0.6666666666666735});
  Term half = square * 0.5;
  Term sum = fma(tail, squareOfS, half);
  return {half, correction ? fma(s, sum, *correction) : s * sum};
}

Term logOfFraction(Term fraction) {
  FractionLogarithm parts = splitLogarithm(fraction);
  return fraction - (parts.half - parts.rest);
}

/// exponent * ln 2 + log(1 + fraction) + correction. Of the two parts of ln 2, the first is exact in f32 when
/// multiplied by an exponent.
Term joinLogarithm(Term exponent, Term fraction, std::optional<Term> correction = std::nullopt) {
  FractionLogarithm parts = splitLogarithm(fraction, correction);
  Term rest = fma(exponent, exponent.either(2.3190468138462996e-17, -2.12194440e-4), parts.rest);
  return fma(exponent, exponent.either(0.6931471805599453, 0.693359375), fraction - (parts.half - rest));
}

/// The logarithm of x where `result` is it for positive, finite x.
Term withSpecialLogarithms(Term x, Term result) {
  result = select(x > 0.0, result, select(x == 0.0, result.like(-infinity), result.like(quietNan)));
  return select(x == infinity, x, result);
}

/// The same of positive numbers that may be denormal; the exponent is a float.
Split splitPositive(Term x) {
  Term isDenormal = x < x.either(0x1p-1022, 0x1p-126);
  Split split = splitExponent(select(isDenormal, x * x.either(0x1p52, 0x1p23), x));
  Term excess = select(isDenormal, x.like(double(x.fractionBits())), x.like(0.0));
  return {toFloat(split.exponent) - excess, split.fraction};
}

/// log(1 + t), or log(2t) where `isHuge`. The rounded u = 1 + t has the logarithm of 1 + t less (1 + t - u) / u; near
/// zero t itself is the fraction.
Term logOnePlus(Term t, std::optional<Term> isHuge = std::nullopt) {
  Term u = t + 1.0;
  if (isHuge)
    u = select(*isHuge, t, u);
  Split split = splitExponent(u);
  Term lost = select(t > 1.0, 1.0 - (u - t), t - (u - 1.0));
  Term isNear = isZero(split.exponent);
  Term fraction = select(isNear, t, split.fraction);
  Term correction = select(isHuge ? isNear | *isHuge : isNear, t.like(0.0), lost / u);
  Term exponent = toFloat(split.exponent);
  if (isHuge)
    exponent = select(*isHuge, exponent + 1.0, exponent);
  return joinLogarithm(exponent, fraction, correction);
}

/// From here on x^2 + 1 and x^2 - 1 are x^2 to the last bit.
Term isBeyondSquares(Term x) { return x > x.either(0x1p28, 0x1p13); }

} // namespace

Term expandLog(Term x) {
  Split split = splitPositive(x);
  return withSpecialLogarithms(x, joinLogarithm(split.exponent, split.fraction));
}

Term expandLog1p(Term x) {
  Term result = logOnePlus(x);
  result = select(x > -1.0, result, select(x == -1.0, x.like(-infinity), x.like(quietNan)));
  return select((x == infinity) | (x == 0.0), x, result);
}

// exponent + log(1 + fraction) / ln 2, which is the exponent itself of powers of two.
Term expandLog2(Term x) {
  Split split = splitPositive(x);
  return withSpecialLogarithms(x, fma(logOfFraction(split.fraction), log2e, split.exponent));
}

// The last rounding alone matters from 10 on, so that powers of ten have integers for logarithms.
Term expandLog10(Term x) {
  Split split = splitPositive(x);
  Term small = logOfFraction(split.fraction) * 0.4342944819032518; // 1 / ln 10
  // log10(2) in two parts
  small = fma(split.exponent, x.either(-2.8037281277851704e-18, -1.4320988897559699e-08), small);
  return withSpecialLogarithms(x, fma(split.exponent, x.either(0.3010299956639812, 0.3010300099849701), small));
}

//===--- Inverse hyperbolic functions -----------------------------------------------------------------------------===//

// log(1 + a + a^2 / (1 + sqrt(1 + a^2))) of a = |x|.
Term expandAsinh(Term x) {
  Term a = abs(x);
  Term isHuge = isBeyondSquares(a);
  Term square = a * a;
  Term t = a + square / (sqrt(square + 1.0) + 1.0);
  Term result = logOnePlus(select(isHuge, a, t), isHuge);
  return copysign(select(a == infinity, a, result), x);
}

// log(1 + t + sqrt(t (t + 2))) of t = x - 1.
Term expandAcosh(Term x) {
  Term isHuge = isBeyondSquares(x);
  Term t = x - 1.0;
  Term sum = t + sqrt(fma(t, t, t + t));
  Term result = logOnePlus(select(isHuge, x, sum), isHuge);
  result = select(x < 1.0, x.like(quietNan), result);
  return select(x == infinity, x, result);
}

// log(1 + 2a / (1 - a)) / 2 of a = |x|; beyond 1 that is the logarithm of a negative number.
Term expandAtanh(Term x) {
  Term a = abs(x);
  Term result = logOnePlus((a + a) / (1.0 - a)) * 0.5;
  result = select(a == 1.0, x.like(infinity), result);
  return copysign(select(a > 1.0, x.like(quietNan), result), x);
}

//===--- For pow --------------------------------------------------------------------------------------------------===//

// With s = (m - 1) / (m + 1) for the mantissa m: log m = 2 artanh(s), and artanh(s) = s + s^3/3 + s^5 T(s^2), of which
// the first two terms are computed in pairs of floats (T. J. Dekker, "A floating-point technique for extending the
// available precision", 1971).
Pair log2Pair(Term x) {
  Split split = splitPositive(x);
  Term f = split.fraction;
  Term d = f + 2.0, dLow = f - (d - 2.0);
  Term inverse = 1.0 / d;
  Term s = f * inverse;
  Term sLow = fma(-s, dLow, fma(-s, d, f)) * inverse;
  Term z = s * s;
  Term zLow = fma(s, s, -z) + (s + s) * sLow;
  Term tail = polynomial(z, {0.05994533617968931, 0.058374061948881485, 0.06668158843425936, 0.07692278432754951,
                             0.09090909435179982, 0.11111111108768273, 0.14285714285722553, 0.1999999999999999});
  // q = z/3 + z^2 T
  constexpr double third = 0.3333333333333333, thirdLow = 1.850371707708594e-17;
  Term p = z * third;
  Term pLow = fma(z, third, -p) + fma(z, thirdLow, zLow * third);
  Term rest = z * z * tail;
  Term q = p + rest;
  Term qLow = (p - q) + rest + pLow;
  // v = s + s q
  Term u = s * q;
  Term uLow = fma(s, q, -u) + fma(s, qLow, sLow * q);
  Term v = s + u;
  Term vLow = (s - v) + u + (uLow + sLow);
  // w = v * 2 / ln 2
  constexpr double factor = 2.8853900817779268, factorLow = 4.0710547481862066e-17;
  Term w = v * factor;
  Term wLow = fma(v, factor, -w) + fma(v, factorLow, vLow * factor);
  Term high = split.exponent + w;
  return {high, (split.exponent - high) + w + wLow};
}

// 2/ln 2 * artanh((m - 1) / (m + 1)) for the mantissa m from sqrt(1/2) to sqrt(2).
Term log2Wide(Term x) {
  Split split = splitExponent(x);
  Term s = split.fraction / (split.fraction + 2.0);
  SmallVector<double> series;
  for (int power = 15; power >= 1; power -= 2)
    series.push_back(2.8853900817779268 / power);
  return fma(polynomial(s * s, series), s, toFloat(split.exponent));
}

} // namespace mlir::array

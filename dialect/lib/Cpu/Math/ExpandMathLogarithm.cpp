// Logarithms and the inverse hyperbolic functions, which are logarithms: log, log2, log10, log1p, asinh, acosh, atanh.
// Coefficients are minimax fits of relative error.
#include "ExpandMathTerm.h"

#include <limits>
#include <optional>

namespace mlir::array {

namespace {

constexpr double log2e = 1.44269504088896340736;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNan = std::numeric_limits<double>::quiet_NaN();

/// x = 2^exponent * (1 + fraction).
struct Split {
  Term exponent;
  Term fraction;
};

/// The bits of the minimum of 1 + fraction; the maximum is less than twice as much.
int64_t threeQuarters(Term x) { return x.either<int64_t>(0x3FE8000000000000, 0x3F400000); }
int64_t sqrtHalf(Term x) { return x.either<int64_t>(0x3FE6A09E667F3BCD, 0x3F3504F3); }

/// For positive, finite, normal numbers; the exponent is an integer.
Split splitNormal(Term x, int64_t least) {
  Term bits = x.bits();
  Term exponent = (bits - bits.likeInt(least)) >> x.fractionBits();
  return {exponent, (bits - (exponent << x.fractionBits())).asFloat() - 1.0};
}

/// The same for positive numbers that may be denormal; the exponent is a float.
Split splitPositive(Term x, int64_t least) {
  Term isDenormal = x < x.either(0x1p-1022, 0x1p-126);
  Split split = splitNormal(select(isDenormal, x * x.either(0x1p52, 0x1p23), x), least);
  Term excess = select(isDenormal, x.like(double(x.fractionBits())), x.like(0.0));
  return {toFloat(split.exponent) - excess, split.fraction};
}

/// For any number, with 1 + fraction from 3/4 to 3/2. The exponent of zeros is -inf, and that of inf is inf; the
/// fraction of negative numbers and nan is nan. So the same arithmetic on both gives the logarithm.
Split splitByIntegers(Term x) {
  Split split = splitPositive(x, threeQuarters(x));
  Term exponent = select(x == 0.0, x.like(-infinity), select(x == infinity, x, split.exponent));
  return {exponent, select((x < 0.0) | isNan(x), x.like(quietNan), split.fraction)};
}

Term exponentByIntegers(Term x) { return splitByIntegers(x).exponent; }
Term fractionByIntegers(Term x) { return splitByIntegers(x).fraction; }

constexpr int64_t currentRounding = 4;

/// x without its exponent, from 3/4 to 3/2; nan for negative numbers.
Term mantissaInRegister(Term x) {
  Value interval = constantInteger(*x.b, 32, 15), rounding = constantInteger(*x.b, 32, currentRounding);
  return callAvx512("mask.getmant", x, {x.value, interval, x.value, allLanes(x), rounding});
}

// The exponent of the mantissa, which is at least 3/4, is -1 or 0.
Term exponentInRegister(Term x) {
  auto exponentOf = [](Term y) {
    Value rounding = constantInteger(*y.b, 32, currentRounding);
    return callAvx512("mask.getexp", y, {y.value, y.value, allLanes(y), rounding});
  };
  return exponentOf(x) - exponentOf(mantissaInRegister(x));
}

Term fractionInRegister(Term x) { return mantissaInRegister(x) - 1.0; }

Split splitAny(Term x) { return {logarithmExponent(x), logarithmFraction(x)}; }

/// log(1 + fraction) = f - (f^2/2 - rest). In f64, with s = f / (2 + f), it is 2 artanh(s) = 2s + s^3 T(s^2), and 2s is
/// f - f^2/2 + s f^2/2. In f32 it is a polynomial without a division, f + f^2 (f T(f) - 1/2), with T as in S. L.
/// Moshier's Cephes library (logf), 1992: all that is not f is rest. Fractions are from -1/4 to 1/2.
struct FractionLogarithm {
  std::optional<Term> half;
  Term rest;

  Term withRest(Term fraction, Term rest) const { return half ? fraction - (*half - rest) : fraction + rest; }
};

FractionLogarithm splitLogarithm(Term fraction, std::optional<Term> correction = std::nullopt) {
  Term square = fraction * fraction;
  if (!fraction.isWide()) {
    Term tail = polynomial(fraction, {0.037672598159, -0.091161472948, 0.11700645395, -0.12727780401, 0.14276240577,
                                      -0.16655296748, 0.19999604815, -0.25000165264, 0.33333339862, -0.5});
    return {std::nullopt, correction ? fma(tail, square, *correction) : tail * square};
  }
  Term s = fraction / (fraction + 2.0);
  Term squareOfS = s * s;
  Term tail =
      polynomial(squareOfS, {0.138377224102487675, 0.13174395573272465, 0.153910638521570659, 0.181816673735680901,
                             0.222222242709952389, 0.285714285560580538, 0.400000000000557063, 0.666666666666665977});
  Term half = square * 0.5;
  Term sum = fma(tail, squareOfS, half);
  return {half, correction ? fma(s, sum, *correction) : s * sum};
}

Term logOfFraction(Term fraction) {
  FractionLogarithm parts = splitLogarithm(fraction);
  return parts.withRest(fraction, parts.rest);
}

/// exponent * ln 2 + log(1 + fraction) + correction. Of the two parts of ln 2, the first is exact in f32 when
/// multiplied by an exponent. Both are positive, so that an infinite exponent has an infinite logarithm of its sign.
Term joinLogarithm(Term exponent, Term fraction, std::optional<Term> correction = std::nullopt) {
  FractionLogarithm parts = splitLogarithm(fraction, correction);
  Term rest = fma(exponent, exponent.either(2.3190468138462996e-17, 1.4286068203094172e-6), parts.rest);
  return fma(exponent, exponent.either(0.6931471805599453, 0.693145751953125), parts.withRest(fraction, rest));
}

/// log(1 + t), or log(2t) if `isHuge`. For the rounded sum u = 1 + t, the logarithm of 1 + t is log(u) plus (1 + t - u)
/// / u; near zero t itself is the fraction.
Term logOnePlus(Term t, std::optional<Term> isHuge = std::nullopt) {
  Term u = t + 1.0;
  if (isHuge)
    u = select(*isHuge, t, u);
  Split split = splitNormal(u, threeQuarters(u));
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
  Split split = splitAny(x);
  return joinLogarithm(split.exponent, split.fraction);
}

Term expandLog1p(Term x) {
  Term result = logOnePlus(x);
  result = select(x > -1.0, result, select(x == -1.0, x.like(-infinity), x.like(quietNan)));
  return select((x == infinity) | (x == 0.0), x, result);
}

// exponent + log(1 + fraction) / ln 2, which is the exponent itself for powers of two.
Term expandLog2(Term x) {
  Split split = splitAny(x);
  return fma(logOfFraction(split.fraction), log2e, split.exponent);
}

// From 10 on, only the last step rounds, so the logarithms of powers of ten are integers.
Term expandLog10(Term x) {
  Split split = splitAny(x);
  Term small = logOfFraction(split.fraction) * 0.4342944819032518; // 1 / ln 10
  // log10(2) in two parts, both positive
  small = fma(split.exponent, x.either(5.27074231034726567e-17, 1.54813334901356139e-8), small);
  return fma(split.exponent, x.either(0.30102999566398114, 0.3010299801826477), small);
}

const RegisterForm logarithmExponent = {"array.logarithm.exponent", exponentByIntegers, exponentInRegister};
const RegisterForm logarithmFraction = {"array.logarithm.fraction", fractionByIntegers, fractionInRegister};

//===--- Inverse hyperbolic functions -----------------------------------------------------------------------------===//

// log(1 + a + a^2 / (1 + sqrt(1 + a^2))) for a = |x|.
Term expandAsinh(Term x) {
  Term a = abs(x);
  Term isHuge = isBeyondSquares(a);
  Term square = a * a;
  Term t = a + square / (sqrt(square + 1.0) + 1.0);
  Term result = logOnePlus(select(isHuge, a, t), isHuge);
  return copysign(select(a == infinity, a, result), x);
}

// log(1 + t + sqrt(t (t + 2))) for t = x - 1.
Term expandAcosh(Term x) {
  Term isHuge = isBeyondSquares(x);
  Term t = x - 1.0;
  Term sum = t + sqrt(fma(t, t, t + t));
  Term result = logOnePlus(select(isHuge, x, sum), isHuge);
  result = select(x < 1.0, x.like(quietNan), result);
  return select(x == infinity, x, result);
}

// log(1 + 2a / (1 - a)) / 2 for a = |x|; beyond 1 that is the logarithm of a negative number.
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
  Split split = splitPositive(x, sqrtHalf(x));
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
  Split split = splitNormal(x, sqrtHalf(x));
  Term s = split.fraction / (split.fraction + 2.0);
  SmallVector<double> series;
  for (int power = 15; power >= 1; power -= 2)
    series.push_back(2.8853900817779268 / power);
  return fma(polynomial(s * s, series), s, toFloat(split.exponent));
}

} // namespace mlir::array

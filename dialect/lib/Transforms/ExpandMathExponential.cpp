// Exponentials and what is built on them, in f32: exp, exp2, expm1, tanh, erf, pow. All reduce to 2^n * e^r with an
// integer n and |r| <= ln(2)/2 (two-part ln 2, after W. J. Cody and W. Waite, "Software Manual for the Elementary
// Functions", 1980). Coefficients are minimax fits of relative error, unless a comment names another source.
#include "ExpandMathTerm.h"

#include <cmath>
#include <limits>

namespace mlir::array {

namespace {

constexpr double log2e = 1.44269504088896340736;
constexpr double ln2High = 0.693147182464599609375; // ln 2 to 24 bits
constexpr double ln2Low = -1.90465429995776804525e-9;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// 1.5 * 2^23: adding it to a small float rounds to the nearest integer, which then stands in the low bits.
constexpr double roundingShift = 12582912.0;
constexpr int64_t roundingShiftBits = 0x4B400000;

/// Coefficients of (e^r - 1 - r) / r^2 for |r| <= ln(2)/2, from S. L. Moshier's Cephes library (expf), 1989.
constexpr double exponential[] = {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                                  4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1};

/// The nearest integer to some x, as a float and (in the low bits) as an integer.
struct Rounded {
  Term number;
  Term shifted;

  /// 2^number, for exponents from -126 to 127.
  Term powerOfTwo() const { return ((shifted << 23) + shifted.likeInt(int64_t(127) << 23)).asFloat(); }
  Term integer() const { return shifted - shifted.likeInt(roundingShiftBits); }
};

Rounded roundProduct(Term x, double factor) {
  Term shifted = fma(x, factor, x.like(roundingShift));
  return {shifted - roundingShift, shifted.bits()};
}

/// y * 2^n in two steps, so that only the last one rounds: n runs from -252 to 254, and results may be denormal.
Term scale(Term y, Term n) {
  Term half = n >> 1;
  Term bias = n.likeInt(127);
  return y * ((half + bias) << 23).asFloat() * ((n - half + bias) << 23).asFloat();
}

struct ReducedExponent {
  Rounded n;
  Term r;
};

ReducedExponent reduceExponent(Term x) {
  Rounded n = roundProduct(x, log2e);
  return {n, fma(n.number, -ln2Low, fma(n.number, -ln2High, x))};
}

/// e^r - 1 for |r| <= ln(2)/2.
Term smallExpm1(Term r) { return fma(polynomial(r, exponential), r * r, r); }

/// e^x for -87 < x < 88: the power of two is one normal float.
Term normalExp(Term x) {
  ReducedExponent reduced = reduceExponent(x);
  return (smallExpm1(reduced.r) + 1.0) * reduced.n.powerOfTwo();
}

} // namespace

Term expandExp(Term x) {
  ReducedExponent reduced = reduceExponent(atLeast(atMost(x, 89.0), -104.0));
  return scale(smallExpm1(reduced.r) + 1.0, reduced.n.integer());
}

Term expandExp2(Term x) {
  Term limited = atLeast(atMost(x, 129.0), -151.0);
  Rounded n = roundProduct(limited, 1.0);
  Term r = limited - n.number;
  Term fraction = polynomial(r, {1.53533618937537475e-4, 1.33988744223662026e-3, 9.61843735780038185e-3,
                                 5.55033247109973302e-2, 2.40226479136267601e-1, 6.93147202855081912e-1});
  return scale(fma(fraction, r, 1.0), n.integer());
}

Term expandExpm1(Term x) {
  ReducedExponent reduced = reduceExponent(atLeast(atMost(x, 89.0), -18.0));
  // Half of the result, as 2^n itself may overflow. The sign is that of x, also for zeros.
  Term half = ((reduced.n.shifted << 23) + reduced.n.shifted.likeInt(int64_t(126) << 23)).asFloat();
  Term result = fma(half, smallExpm1(reduced.r), half - 0.5) * 2.0;
  return copysign(result, x);
}

// tanh|x| = (e^2|x| - 1) / (e^2|x| + 1); 1 to the last bit from 9.02 on.
Term expandTanh(Term x) {
  Term magnitude = atMost(abs(x), 9.1);
  ReducedExponent reduced = reduceExponent(magnitude + magnitude);
  Term power = reduced.n.powerOfTwo();
  Term expm1 = fma(power, smallExpm1(reduced.r), power - 1.0);
  return copysign(expm1 / (expm1 + 2.0), x);
}

// erf(x) = x + x P(x^2) near zero, and 1 - e^-Q(|x|) beyond; 1 to the last bit from 3.92 on.
Term expandErf(Term x) {
  Term magnitude = atMost(abs(x), 4.0);
  Term near =
      fma(polynomial(magnitude * magnitude, {-5.99940636844626708e-4, 4.99483040614579106e-3, -2.67677199715091532e-2,
                                             1.12818459519110265e-1, -3.76124964599786726e-1, 1.28379149961890593e-1}),
          magnitude, magnitude);
  Term far = polynomial(magnitude,
                        {-1.95937258203943501e-4, 3.04321758790043403e-3, -2.22269210839465686e-2,
                         1.03931598367320022e-1, 6.37182245683796777e-1, 1.12767562727125314, 1.95675403452888474e-4});
  Term result = select(magnitude < 0.92, near, far.like(1.0) - normalExp(-far));
  return copysign(result, x);
}

//===--- pow ------------------------------------------------------------------------------------------------------===//

namespace {

/// log2 of positive, finite f64 numbers that are normal, to about 2^-44: 2/ln 2 * artanh((m - 1) / (m + 1)) for the
/// mantissa m from sqrt(1/2) to sqrt(2).
Term log2Wide(Term x) {
  constexpr int64_t sqrtHalfBits = 0x3FE6A09E667F3BCD;
  Term bits = x.bits();
  Term exponent = (bits - bits.likeInt(sqrtHalfBits)) >> 52;
  Term mantissa = (bits - (exponent << 52)).asFloat();
  Term s = (mantissa - 1.0) / (mantissa + 1.0);
  SmallVector<double> series;
  for (int power = 15; power >= 1; power -= 2)
    series.push_back(2.0 * log2e / power);
  return fma(polynomial(s * s, series), s, toFloat(exponent));
}

/// 2^x in f64, for -1000 < x < 1000, to about 2^-40.
Term exp2Wide(Term x) {
  constexpr double shift = 6755399441055744.0; // 1.5 * 2^52
  Term shifted = x + shift;
  Term r = x - (shifted - shift);
  Term power = ((shifted.bits() << 52) + shifted.bits().likeInt(int64_t(1023) << 52)).asFloat();
  return power * polynomial(r, {1.31759672683529061e-6, 1.53097360557907791e-5, 1.54038513155763113e-4,
                                1.33334520671415935e-3, 9.61812854333268276e-3, 5.55041093933843904e-2,
                                2.40226506988792748e-1, 6.93147180546512032e-1, 9.99999999999762745e-1});
}

Term widen(Term x) { return x.of(arith::ExtFOp::create(*x.b, x.typeWith(x.b->getF64Type()), x.value)); }
Term narrow(Term x) { return x.of(arith::TruncFOp::create(*x.b, x.typeWith(x.b->getF32Type()), x.value)); }

} // namespace

// |x|^y = 2^(y log2|x|) in f64, which leaves f32 results rounded once; then IEEE 754's cases in turn.
Term expandPow(Term x, Term y) {
  Term magnitude = abs(x);
  Term logarithm = log2Wide(widen(magnitude));
  logarithm = select(magnitude == 0.0, logarithm.like(-infinity), logarithm);
  logarithm = select(magnitude == infinity, logarithm.like(infinity), logarithm);
  Term exponent = widen(y) * logarithm;
  exponent = select(magnitude == 1.0, exponent.like(0.0), exponent); // 1^inf is 1
  Term result = narrow(exp2Wide(atLeast(atMost(exponent, 200.0), -200.0)));

  Term isInteger = floor(y) == y;
  Term halfY = y * 0.5;
  Term isOdd = isInteger & (compare(arith::CmpFPredicate::ONE, floor(halfY), halfY));
  Term negative = isNegative(x.bits());
  result = select(negative & isOdd, -result, result);
  Term isFraction = compare(arith::CmpFPredicate::ONE, floor(y), y);
  Term undefined = isFraction & (x < 0.0) & (magnitude < infinity);
  Term nan = x.like(std::numeric_limits<double>::quiet_NaN());
  result = select(undefined | isNan(x) | isNan(y), nan, result);
  return select((y == 0.0) | (x == 1.0), x.like(1.0), result);
}

} // namespace mlir::array

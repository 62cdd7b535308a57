// Exponentials and functions based on them: exp, exp2, expm1, sinh, cosh, tanh. All reduce to 2^n * e^r with an integer
// n and |r| <= ln(2)/2 (two-part ln 2, after W. J. Cody and W. Waite, "Software Manual for the Elementary Functions",
// 1980). Coefficients are minimax fits of relative error, unless a comment names another source.
#include "ExpandMathTerm.h"

#include <cmath>

namespace mlir::array {

static constexpr double log2e = 1.44269504088896340736;
/// ln 2 in two parts: of 24 bits for f32, of 53 for f64.
static constexpr double ln2High = 0.693147182464599609375, ln2Low = -1.90465429995776804525e-9;
static constexpr double ln2WideHigh = 0.6931471805599453, ln2WideLow = 2.3190468138462996e-17;

/// Coefficients of (e^r - 1 - r) / r^2 for |r| <= ln(2)/2; for f32 from S. L. Moshier's Cephes library (expf), 1989.
static constexpr double exponential[] = {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                                         4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1};
static constexpr double exponentialWide[] = {1.7687705419230659e-09, 2.510525300901027e-08, 2.756793907317471e-07,
                                             2.755725532054035e-06,  2.480157450963203e-05, 0.00019841269874876482,
                                             0.0013888888895619523,  0.008333333333326122,  0.041666666666652225,
                                             0.1666666666666667,     0.5000000000000001};

Term Rounded::integer() const { return shifted - shifted.likeInt(roundingShiftBits(shifted)); }

Rounded roundProduct(Term x, double factor) {
  Term shifted = fma(x, factor, x.like(roundingShift(x)));
  return {shifted - roundingShift(x), shifted.bits()};
}

static constexpr char scaleIntrinsic[] = "llvm.ldexp";

/// In two steps, so that only the last one rounds.
static Term scaleByProducts(Term y, Term n) {
  Term half = n >> 1;
  Term bias = n.likeInt(n.bias());
  int64_t places = n.fractionBits();
  Term first = ((half + bias) << places).asFloat(), second = ((n - half + bias) << places).asFloat();
  return y * first * second;
}

Term scale(Term y, Term n) {
  if (y.isWide() || !isa<VectorType>(y.type()))
    return scaleByProducts(y, n);
  // MLIR's operation for it takes one exponent for all lanes.
  return y.of(
      LLVM::CallIntrinsicOp::create(*y.b, y.type(), y.b->getStringAttr(scaleIntrinsic), ValueRange{y.value, n.value})
          .getResult(0));
}

void expandScale(LLVM::CallIntrinsicOp op) {
  if (op.getIntrin() != scaleIntrinsic)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Term y{&b, op.getArgs()[0]};
  op.getResult(0).replaceAllUsesWith(scaleByProducts(y, y.of(op.getArgs()[1])).value);
  op.erase();
}

ReducedExponent reduceExponent(Term x) {
  Rounded n = roundProduct(x, log2e);
  Term r = fma(n.number, -x.either(ln2WideHigh, ln2High), x);
  return {n, fma(n.number, -x.either(ln2WideLow, ln2Low), r)};
}

namespace {

/// (e^x - 1) / 4, which overflows only if the hyperbolic functions do.
Term quarterExpm1(Term x) {
  ReducedExponent reduced = reduceExponent(atLeast(atMost(x, x.either(710.5, 89.6)), x.either(-40.0, -18.0)));
  Term quarter = reduced.n.powerOfTwo(-2);
  return fma(quarter, smallExpm1(reduced.r), quarter - 0.25);
}

/// x itself near zero, because a quarter of it may be denormal; elsewhere `result` with the sign of x.
Term nearZeroItself(Term x, Term result) { return select(abs(x) < x.either(0x1p-54, 0x1p-25), x, copysign(result, x)); }

} // namespace

Term smallExpm1(Term r) { return fma(polynomial(r, exponentialWide, exponential), r * r, r); }

// Beyond the limits e^x is an infinity or 0.
Term expandExp(Term x) {
  ReducedExponent reduced = reduceExponent(atLeast(atMost(x, x.either(710.0, 89.0)), x.either(-746.0, -104.0)));
  return scale(smallExpm1(reduced.r) + 1.0, reduced.n.integer());
}

Term expandExp2(Term x) {
  Term limited = atLeast(atMost(x, x.either(1025.0, 129.0)), x.either(-1077.0, -151.0));
  Rounded n = roundProduct(limited, 1.0);
  Term r = limited - n.number;
  if (x.isWide())
    return scale(smallExpm1(r * ln2WideHigh) + 1.0, n.integer());
  Term fraction = polynomial(r, {1.53533618937537475e-4, 1.33988744223662026e-3, 9.61843735780038185e-3,
                                 5.55033247109973302e-2, 2.40226479136267601e-1, 6.93147202855081912e-1});
  return scale(fma(fraction, r, 1.0), n.integer());
}

// First a quarter of the result, because 2^n itself may overflow.
Term expandExpm1(Term x) { return nearZeroItself(x, quarterExpm1(x) * 4.0); }

// With E = e^|x| - 1: (E + E / (E + 1)) / 2. A large E may overflow in the denominator; the result is still right.
Term expandSinh(Term x) {
  Term quarter = quarterExpm1(abs(x));
  return nearZeroItself(x, (quarter + quarter / fma(quarter, 4.0, quarter.like(1.0))) * 2.0);
}

// e^|x| / 2 + 1 / (2 e^|x|), from a quarter of e^|x|.
Term expandCosh(Term x) {
  ReducedExponent reduced = reduceExponent(atMost(abs(x), x.either(710.5, 89.6)));
  Term quarter = (smallExpm1(reduced.r) + 1.0) * reduced.n.powerOfTwo(-2);
  return (quarter + 0.0625 / quarter) * 2.0;
}

// 1 to the last bit from 9.02 (f32) or 19.07 (f64) on. In f64 tanh|x| = (e^2|x| - 1) / (e^2|x| + 1).
Term expandTanh(Term x) {
  if (!x.isWide())
    return saturatingQuotient(
        x, 0.11, 82.0, {-0.09284072369337082, -20.008378982543945, 835.1133422851562, 106174.5078125, 1146609.125},
        {1.0, 422.9689636230469, 33330.34375, 601815.625, 1288324.875});
  Term magnitude = atMost(abs(x), 19.2);
  ReducedExponent reduced = reduceExponent(magnitude + magnitude);
  Term power = reduced.n.powerOfTwo();
  Term expm1 = fma(power, smallExpm1(reduced.r), power - 1.0);
  return copysign(expm1 / (expm1 + 2.0), x);
}

} // namespace mlir::array

// The error function and its complement. Coefficients are minimax fits of relative error.
#include "ExpandMathTerm.h"

namespace mlir::array {

namespace {

/// erf x = x + x P(x^2), for x from -1 to 1.
Term nearErf(Term x) {
  Term tail = polynomial(x * x,
                         {5.945255583947005e-11, -1.136567067165346e-09, 1.4657883530871615e-08,
                          -1.6350026192069577e-07, 1.6460972954152978e-06, -1.4925593518728173e-05,
                          0.00012055331037551105, -0.0008548326978765149, 0.00522397762478137, -0.02686617064507296,
                          0.11283791670954858, -0.3761263890318375, 0.1283791670955126},
                         {-5.99940636844626708e-4, 4.99483040614579106e-3, -2.67677199715091532e-2,
                          1.12818459519110265e-1, -3.76124964599786726e-1, 1.28379149961890593e-1});
  return fma(tail, x, x);
}

/// erfc x for x >= 1/2. (1 + 2x) e^(x^2) erfc(x) is a polynomial in (x - k) / (x + k), which takes all of the positive
/// numbers to (-1, 1) (M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in
/// 0 <= x < infinity", 1981).
Term positiveErfc(Term x) {
  double k = x.either(3.75, 2.0);
  Term t = (x - k) / (x + k);
  Term scaled =
      polynomial(t, {-2.2431756520785175e-09, -4.1507838130312477e-10, 3.2757824434721765e-08, 1.4738094945646582e-08,
                     -2.531489144072322e-07,  -4.6726790042839735e-08, 1.749104179191314e-06,  -9.810489212380642e-07,
                     -1.1443775814339026e-05, 2.238757690327225e-05,   5.164926668237911e-05,  -0.00029015503165781385,
                     0.00029371357044530793,  0.0017556260245489767,   -0.009746579537757627,  0.028362277400154366,
                     -0.058693398591776316,   0.09230432116151992,     -0.10880393014164265,   0.0822767384901131,
                     0.003585415485462492,    -0.1402405985855467,     1.2375126308378275},
                 {-0.0004005517403129488, -0.0012298810761421919, 0.0013135188492015004, 0.008631637319922447,
                  -0.00805988535284996, -0.05420428514480591, 0.16405534744262695, -0.16603142023086548,
                  -0.0927639827132225, 1.2769783735275269});
  Term square = x * x;
  Term low = fma(x, x, -square);
  ReducedExponent reduced = reduceExponent(-square);
  Term numerator = fma(scaled, smallExpm1(reduced.r - low), scaled);
  // Divided by 1 + 2x in two parts (x is 1/2 at least), with one step of correction.
  Term twice = x + x;
  Term denominator = twice + 1.0, rest = 1.0 - (denominator - twice);
  Term inverse = 1.0 / denominator;
  Term power = numerator * inverse;
  power = fma(fma(-power, rest, fma(-power, denominator, numerator)), inverse, power);
  return scale(power, reduced.n.integer());
}

} // namespace

Term saturatingQuotient(Term x, double k, double end, ArrayRef<double> numerator, ArrayRef<double> denominator) {
  Term square = atMost(x * x, end);
  Term quotient = polynomial(square, numerator) / polynomial(square, denominator);
  return atLeast(atMost(x * (quotient + k), 1.0), -1.0);
}

// 1 to the last bit from 3.92 (f32) or 5.92 (f64) on. In f64 erf|x| = 1 - e^-y, where y = -log(erfc|x|) is |x| times a
// polynomial.
Term expandErf(Term x) {
  if (!x.isWide())
    return saturatingQuotient(
        x, 0.25, 15.5,
        {-0.1961803436279297, -0.15101443231105804, 0.6125054955482483, 635.871826171875, 1703.4683837890625,
         23059.564453125},
        {1.0, 30.519601821899414, 392.97979736328125, 2995.647216796875, 13180.724609375, 26252.404296875});
  Term magnitude = atMost(abs(x), 5.95);
  Term y = magnitude * polynomial(magnitude, {-3.5905999189490925e-15, 1.6141924292975202e-13,  -3.3630135666819455e-12,
                                              4.300167900049317e-11,   -3.7593619551887474e-10, 2.3596915845943007e-09,
                                              -1.0769545372508305e-08, 3.457122453974775e-08,   -6.569522443687667e-08,
                                              -1.1793518780897255e-08, 5.707833415963277e-07,   -2.0374006176636425e-06,
                                              3.133198867216216e-06,   3.169463348529053e-06,   -2.9575524075115787e-05,
                                              6.442039591440977e-05,   2.5904530135292298e-05,  -0.000590132439010617,
                                              0.0016962076716852642,   -0.00020919485417329793, -0.019128446993073114,
                                              0.1027726033013144,      0.636619772367591,       1.1283791670955126});
  ReducedExponent reduced = reduceExponent(-y);
  Term power = reduced.n.powerOfTwo();
  return copysign(fma(power, smallExpm1(reduced.r), power - 1.0), x);
}

// 0 from 27.3 (f64) or 10.1 (f32) on, and 2 to the last bit from -5.87 or -3.84 down. Near zero, 1 - erf(x) has less
// rounding.
Term expandErfc(Term x) {
  Term magnitude = atMost(abs(x), x.either(28.0, 11.0));
  Term far = positiveErfc(magnitude);
  far = select(x < 0.0, 2.0 - far, far);
  return select(magnitude < 0.5, 1.0 - nearErf(x), far);
}

} // namespace mlir::array

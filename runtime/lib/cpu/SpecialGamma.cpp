// Special functions around the gamma function: its logarithm and derivatives, zeta, beta, the incomplete gamma and beta
// functions and their derivatives. Boost.Math computes digamma and the incomplete functions; lgamma and gamma are the
// C library's.
#include "SpecialFunctions.h"

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using namespace pcrt::special;

namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::underflow_error<policies::ignore_error>, policies::denorm_error<policies::ignore_error>,
                     policies::rounding_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>>;

bool isNonPositiveInteger(double x) { return x <= 0 && x == std::floor(x); }

/// lgamma without a global variable for the sign.
Extended logGamma(Extended x) {
  int sign;
  return lgammal_r(x, &sign);
}

double digammaAt(double x) { return boost::math::digamma(x, Quiet()); }

//===----------------------------------------------------------------------===//
// zeta
//===----------------------------------------------------------------------===//

/// A value with its derivative by one variable.
struct Dual {
  Extended value, slope;
};

/// B(2j) / (2j)!, the coefficients of Euler and Maclaurin's formula.
constexpr Extended bernoulliOverFactorial[] = {
    1.0L / 12,
    -1.0L / 720,
    1.0L / 30240,
    -1.0L / 1209600,
    1.0L / 47900160,
    -691.0L / 1307674368000.0L,
    1.0L / 74724249600.0L,
    -3617.0L / 10670622842880000.0L,
    43867.0L / 5109094217170944000.0L,
    -174611.0L / 802857662698291200000.0L,
    77683.0L / 14101100039391805440000.0L,
};

/// The Hurwitz zeta function for s > 1 and q > 0 by Euler and Maclaurin's formula, with its derivative by s; also for q
/// < 0 if s is an integer. See DLMF 25.11.
Dual hurwitz(Extended s, Extended q) {
  Dual sum{0, 0};
  Extended far = std::max<Extended>(12, s / 2);
  while (q < far) {
    Extended logarithm = std::log(std::fabs(q));
    Extended term = std::exp(-s * logarithm);
    if (q < 0 && std::fmod(s, 2) != 0)
      term = -term;
    sum.value += term;
    sum.slope -= term * logarithm;
    // In this form, sums of 0, whose other terms all underflow, and sums of nan end the loop, too.
    if (q > 1 && !(term * (1 + q) > std::fabs(sum.value) * 1e-22L) &&
        !(term * (1 + q) * logarithm > std::fabs(sum.slope) * 1e-22L))
      return sum;
    q += 1;
  }
  Extended logarithm = std::log(q), power = std::exp(-s * logarithm);
  auto add = [&](Extended value, Extended slope) {
    sum.value += value;
    sum.slope += slope;
  };
  Extended tail = q * power / (s - 1);
  add(tail, -tail * (logarithm + 1 / (s - 1)));
  add(power / 2, -power / 2 * logarithm);
  // (s)(s + 1)...(s + 2j - 2) q^(-s - 2j + 1), and its logarithmic derivative.
  Extended product = s * power / q, rate = 1 / s - logarithm;
  for (int j = 0; j < int(std::size(bernoulliOverFactorial)); ++j) {
    Extended term = bernoulliOverFactorial[j] * product;
    add(term, term * rate);
    Extended first = s + 2 * j + 1, second = s + 2 * j + 2;
    product *= first * second / (q * q);
    rate += 1 / first + 1 / second;
  }
  return sum;
}

/// The values at the edges of the domain; returns whether the arguments are one.
bool zetaEdge(double s, double q, double &result) {
  if (std::isnan(s) || std::isnan(q) || s < 1) {
    result = undefined;
    return true;
  }
  if (s == 1 || isNonPositiveInteger(q)) {
    result = infinity;
    return true;
  }
  if (std::isinf(q) || std::isinf(s)) {
    result = q < 0 ? undefined : std::isinf(q) || q > 1 ? 0 : q == 1 ? 1 : infinity;
    return true;
  }
  // Below zero, the terms change sign at least for odd s; far below, there are too many of them.
  if (q < 0 && (s != std::floor(s) || q < -1e6)) {
    result = undefined;
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The beta function
//===----------------------------------------------------------------------===//

/// The rest of log gamma in Stirling's formula: lgamma(x) = (x - 1/2) log(x) - x + log(2 pi) / 2 + rest; x >= 10.
Extended stirlingRest(Extended x) {
  constexpr Extended coefficients[] = {1.0L / 12,         -1.0L / 360,        1.0L / 1260, -1.0L / 1680,
                                       1.0L / 1188,       -691.0L / 360360,   1.0L / 156,  -3617.0L / 122400,
                                       43867.0L / 244188, -174611.0L / 125400};
  Extended square = 1 / (x * x), sum = 0;
  for (int i = int(std::size(coefficients)) - 1; i >= 0; --i)
    sum = sum * square + coefficients[i];
  return sum / x;
}

/// log(gamma(b) / gamma(a + b)) for b >= 10 and a >= 0, without cancellation.
Extended logGammaRatio(Extended a, Extended b) {
  Extended sum = a + b;
  return stirlingRest(b) - stirlingRest(sum) - (b - 0.5L) * std::log1p(a / b) - a * std::log(sum) + a;
}

//===----------------------------------------------------------------------===//
// The derivative of the incomplete gamma function by its shape
//===----------------------------------------------------------------------===//

/// d x / d a of a sample x of the gamma distribution of shape a, which is -(dP/da) / (dP/dx), by the power series of P.
/// P = x^a exp(-x) / gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...).
Extended sampleSlopeBySeries(Extended a, Extended x) {
  Extended term = 1, rate = 0, sum = 1, slope = 0;
  for (int n = 1; n < 100000; ++n) {
    term *= x / (a + n);
    rate -= 1 / (a + n);
    sum += term;
    slope += term * rate;
    if (term < sum * 1e-21L && std::fabs(term * rate) <= std::fabs(slope) * 1e-21L)
      break;
  }
  Extended outer = std::log(x) - boost::math::digamma(a + 1, Quiet());
  return -x / a * (sum * outer + slope);
}

/// The same by Legendre's continued fraction of Q: Q = x^a exp(-x) / gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a -
/// ...)), evaluated by Lentz's method, its derivative carried along.
Extended sampleSlopeByFraction(Extended a, Extended x) {
  constexpr Extended tiny = 1e-300L;
  Extended b = x + 1 - a;
  Dual c{1 / tiny, 0}, d{1 / b, 1 / (b * b)}, h = d; // db/da = -1
  for (int n = 1; n < 100000; ++n) {
    Extended an = -n * (n - a), anSlope = n;
    b += 2;
    Dual denominator{an * d.value + b, anSlope * d.value + an * d.slope - 1};
    if (denominator.value == 0)
      denominator.value = tiny;
    d = {1 / denominator.value, -denominator.slope / (denominator.value * denominator.value)};
    Dual next{b + an / c.value, -1 + anSlope / c.value - an * c.slope / (c.value * c.value)};
    if (next.value == 0)
      next.value = tiny;
    c = next;
    Dual factor{d.value * c.value, d.slope * c.value + d.value * c.slope};
    Extended before = h.slope;
    h = {h.value * factor.value, h.slope * factor.value + h.value * factor.slope};
    if (std::fabs(factor.value - 1) < 1e-19L && std::fabs(h.slope - before) <= std::fabs(h.slope) * 1e-19L)
      break;
  }
  return x * (h.value * (std::log(x) - boost::math::digamma(a, Quiet())) + h.slope);
}

Extended sampleSlope(double a, double x) {
  // Far out in the upper tail P is 1 - Q, and the series would lose all digits.
  return x > 1 && x > a ? sampleSlopeByFraction(a, x) : sampleSlopeBySeries(a, x);
}

/// Beyond this shape there are thousands of terms: the derivative is a difference of P over a small part of its width.
constexpr double largeShape = 1e7;

Extended slopeByDifference(double a, double x) {
  Extended step = std::sqrt(static_cast<Extended>(a)) * 0.01L;
  auto at = [&](int steps) { return boost::math::gamma_p(a + steps * step, static_cast<Extended>(x), Quiet()); };
  return (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + (at(3) - at(-3))) / (60 * step);
}

//===----------------------------------------------------------------------===//
// The incomplete gamma function of moderate shapes
//===----------------------------------------------------------------------===//

/// P by its power series (DLMF 8.11.4), whose terms are positive. Empty beyond moderate arguments, for which there are
/// many terms, or the density loses digits; and without extended precision.
std::optional<Extended> moderateLower(Extended a, Extended x) {
  if (std::numeric_limits<Extended>::digits < 64 || !(a < 30) || !(x < 30))
    return std::nullopt;
  Extended term = 1, sum = 1;
  for (int n = 1; term > sum * 1e-21L; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - logGamma(a + 1));
}

/// The part of 1 that is left must be at least this, or its digits are lost.
constexpr Extended leastUpper = 0x1p-8L;

} // namespace

double pcrt::special::lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

double pcrt::special::gamma(double x) { return std::tgamma(x); }

double pcrt::special::digamma(double x) {
  if (x == 0)
    return std::signbit(x) ? infinity : -infinity;
  if (!(x > -infinity) || isNonPositiveInteger(x))
    return undefined;
  return x == infinity ? x : digammaAt(x);
}

double pcrt::special::zeta(double s, double q) {
  double edge;
  return zetaEdge(s, q, edge) ? edge : static_cast<double>(hurwitz(s, q).value);
}

double pcrt::special::zeta_grad_x(double s, double q) {
  double edge;
  if (zetaEdge(s, q, edge))
    return std::isnan(edge) ? undefined : edge == infinity ? -infinity : 0;
  return static_cast<double>(q < 0 ? undefined : hurwitz(s, q).slope);
}

/// (-1)^(m + 1) m! zeta(m + 1, x), DLMF 25.11.12.
double pcrt::special::polygamma(double m, double x) {
  if (m == 0)
    return digamma(x);
  if (!(m > 0) || m != std::floor(m) || std::isnan(x) || x == -infinity)
    return undefined;
  bool isOdd = std::fmod(m, 2) != 0;
  if (isNonPositiveInteger(x))
    return isOdd ? infinity : undefined;
  double edge;
  Extended sum = zetaEdge(m + 1, x, edge) ? edge : hurwitz(m + 1, x).value;
  if (sum == 0)
    return 0;
  Extended magnitude = m < 1000 ? std::tgamma(static_cast<Extended>(m + 1)) * sum
                                : std::copysign(std::exp(logGamma(m + 1) + std::log(std::fabs(sum))), sum);
  return static_cast<double>(isOdd ? magnitude : -magnitude);
}

double pcrt::special::igamma(double a, double x) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x)))
    return undefined;
  if (x == 0 || std::isinf(a))
    return 0;
  if (a == 0 || std::isinf(x))
    return 1;
  if (std::optional<Extended> lower = moderateLower(a, x))
    return static_cast<double>(*lower);
  return boost::math::gamma_p(a, x, Quiet());
}

double pcrt::special::igammac(double a, double x) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x)))
    return undefined;
  if (x == 0 || std::isinf(a))
    return 1;
  if (a == 0 || std::isinf(x))
    return 0;
  std::optional<Extended> lower = moderateLower(a, x);
  if (lower && *lower < 1 - leastUpper)
    return static_cast<double>(1 - *lower);
  return boost::math::gamma_q(a, x, Quiet());
}

double pcrt::special::igamma_grad_a(double a, double x) {
  if (!(a > 0) || !(x >= 0) || std::isinf(a))
    return undefined;
  if (x == 0 || std::isinf(x))
    return 0;
  if (a > largeShape)
    return static_cast<double>(slopeByDifference(a, x));
  Extended density = boost::math::gamma_p_derivative(static_cast<Extended>(a), static_cast<Extended>(x), Quiet());
  return static_cast<double>(density == 0 ? 0 : -sampleSlope(a, x) * density);
}

double pcrt::special::random_gamma_grad(double a, double x) {
  if (!(a > 0) || !(x >= 0) || std::isinf(a) || std::isinf(x))
    return undefined;
  if (x == 0)
    return 0;
  if (a > largeShape) {
    Extended density = boost::math::gamma_p_derivative(static_cast<Extended>(a), static_cast<Extended>(x), Quiet());
    return static_cast<double>(-slopeByDifference(a, x) / density);
  }
  return static_cast<double>(sampleSlope(a, x));
}

double pcrt::special::betainc(double a, double b, double x) {
  if (!(a >= 0) || !(b >= 0) || !(x >= 0) || !(x <= 1) || (a == 0 && b == 0) || (std::isinf(a) && std::isinf(b)))
    return undefined;
  if (x == 0 || x == 1)
    return x;
  if (a == 0 || std::isinf(b))
    return 1;
  if (b == 0 || std::isinf(a))
    return 0;
  return boost::math::ibeta(a, b, x, Quiet());
}

/// The decomposition of A. DiDonato and A. Morris, "Algorithm 708: Significant digit computation of the incomplete beta
/// function ratios", 1992, in extended precision.
double pcrt::special::betaln(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return undefined;
  if (a > b)
    std::swap(a, b);
  if (a == 0 || isNonPositiveInteger(a) || a < 0)
    return isNonPositiveInteger(a) ? infinity
                                   : static_cast<double>(logGamma(a) + logGamma(b) - logGamma(Extended(a) + b));
  if (std::isinf(b))
    return -infinity;
  Extended p = a, q = b;
  if (a >= 10) {
    Extended ratio = p / q, small = ratio / (1 + ratio);
    Extended rest = stirlingRest(p) + stirlingRest(q) - stirlingRest(p + q);
    constexpr Extended halfLogTwoPi = 0.918938533204672741780329736405617640L;
    return static_cast<double>(-0.5L * std::log(q) + halfLogTwoPi + rest + (p - 0.5L) * std::log(small) -
                               q * std::log1p(ratio));
  }
  if (b >= 10)
    return static_cast<double>(logGamma(p) + logGammaRatio(p, q));
  return static_cast<double>(std::log(std::tgamma(p) / std::tgamma(p + q) * std::tgamma(q)));
}

// Special functions of the hypergeometric kind: Bessel functions, spherical Legendre functions, 1F1 and 2F1.
#include "SpecialFunctions.h"

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/hypergeometric_1F1.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
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

/// exp(-x) I(order, x) for x >= 0: the power series, whose terms are all positive, then Hankel's expansion (DLMF
/// 10.40.1), whose minimum term at 40 is exp(-80).
double scaledBessel(int order, double given) {
  Extended x = given;
  if (std::isinf(given))
    return 0;
  if (x < 40) {
    Extended quarter = x * x / 4, term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; term > sum * 1e-21L; ++k) {
      term *= quarter / (static_cast<Extended>(k) * (k + order));
      sum += term;
    }
    return static_cast<double>(std::exp(-x) * sum);
  }
  Extended term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    term *= -(4 * order * order - static_cast<Extended>(2 * k - 1) * (2 * k - 1)) / (8 * k * x);
    sum += term;
    if (std::fabs(term) < 1e-21L)
      break;
  }
  return static_cast<double>(sum / std::sqrt(2 * pi * x));
}

bool isNonPositiveInteger(Extended x) { return x <= 0 && x == std::floor(x); }

/// The maximum step from a numerator's parameter, and from a denominator's, which has poles.
Extended reach(Extended a) { return 0.005L * std::max<Extended>(1, std::fabs(a)); }
Extended reachBetweenPoles(Extended c) {
  return 0.002L * std::min<Extended>(std::max<Extended>(1, std::fabs(c)), c > 0 ? c : std::fabs(c - std::round(c)));
}

/// The derivative of `at(step)` at 0 by a central difference of order six in extended precision.
template <typename Function> double slopeOf(Extended h, Function at) {
  return static_cast<double>((45 * (at(h) - at(-h)) - 9 * (at(2 * h) - at(-2 * h)) + (at(3 * h) - at(-3 * h))) /
                             (60 * h));
}

//===----------------------------------------------------------------------===//
// 1F1
//===----------------------------------------------------------------------===//

/// What a series gives: the value, or its derivative by a parameter.
enum class Of { Value, SlopeOfA, SlopeOfB };

/// The sum of a^(n) / b^(n) x^n / n! (DLMF 13.2.2), or its derivative, term by term. Empty if the terms cancel so much
/// that the sum may be off by more than `tolerance` of it.
template <Of of, typename Real> std::optional<Real> confluentSeries(Real a, Real b, Real x, Real tolerance) {
  constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
  if (!(std::fabs(x) < 50))
    return std::nullopt;
  // A term, its derivative, and the sum of either.
  Real term = 1, slope = 0, sum = of == Of::Value ? 1 : 0, magnitude = sum;
  for (int n = 0; n < 1000; ++n) {
    Real last = b + n, divisor = 1 / (last * (n + 1)), factor = x * divisor, ratio = (a + n) * factor;
    if constexpr (of == Of::SlopeOfA)
      slope = slope * ratio + term * factor;
    if constexpr (of == Of::SlopeOfB)
      slope = (slope - term * (n + 1) * divisor) * ratio;
    term *= ratio;
    Real next = of == Of::Value ? term : slope, size = std::fabs(next);
    sum += next;
    magnitude += size;
    if (!(magnitude < infinity)) // at a pole
      break;
    // The derivative of the next term is a multiple of this term, too.
    if (of != Of::Value)
      size = std::max(size, std::fabs(term));
    if (n + 1 > -a && n + 1 > -b && size <= std::fabs(sum) * epsilon * Real(0.25)) {
      if (magnitude * epsilon <= std::fabs(sum) * std::max(tolerance, 4 * epsilon))
        return sum;
      break;
    }
  }
  return std::nullopt;
}

/// The same, or by Kummer's transformation (DLMF 13.2.39), whose terms have one sign for many x < 0.
template <Of of, typename Real> std::optional<Real> confluentSum(Real a, Real b, Real x, Real tolerance) {
  if (std::optional<Real> sum = confluentSeries<of>(a, b, x, tolerance))
    return sum;
  if (!(x < 0))
    return std::nullopt;
  constexpr Of first = of == Of::Value ? Of::Value : Of::SlopeOfA;
  std::optional<Real> sum = confluentSeries<first>(b - a, b, -x, tolerance);
  if (!sum)
    return std::nullopt;
  if constexpr (of == Of::SlopeOfA)
    sum = -*sum;
  if constexpr (of == Of::SlopeOfB) {
    std::optional<Real> other = confluentSeries<Of::SlopeOfB>(b - a, b, -x, tolerance);
    if (!other || std::fabs(*sum + *other) * std::max(tolerance, 4 * std::numeric_limits<Real>::epsilon()) <
                      std::fabs(*sum) * std::numeric_limits<Real>::epsilon())
      return std::nullopt;
    sum = *sum + *other;
  }
  return std::exp(x) * *sum;
}

/// The tolerances of f64 by extended precision, and of f32 by doubles.
constexpr Extended toleranceOfDoubles = 0x1p-54L;
constexpr double toleranceOfFloats = 0x1p-27;
/// Differences lose more.
constexpr Extended toleranceOfSlopes = 0x1p-44L;

template <Of of> float singleConfluent(float a, float b, float x, double (*wide)(double, double, double)) {
  if (std::optional<double> sum = confluentSum<of, double>(a, b, x, toleranceOfFloats))
    return static_cast<float>(*sum);
  return static_cast<float>(wide(a, b, x));
}

Extended confluent(Extended a, Extended b, Extended x) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(x))
    return undefined;
  if (a == 0 || x == 0)
    return 1;
  if (isNonPositiveInteger(b) && !(isNonPositiveInteger(a) && a >= b))
    return infinity;
  if (a == b)
    return std::exp(x);
  if (std::optional<Extended> sum = confluentSum<Of::Value>(a, b, x, toleranceOfDoubles))
    return *sum;
  if (std::isinf(a) || std::isinf(b) || std::isinf(x))
    return x > 0 && a > 0 && b > 0 && !std::isinf(a) && !std::isinf(b) ? infinity : undefined;
#ifdef __cpp_exceptions
  try {
    return boost::math::hypergeometric_1F1(a, b, x, Quiet());
  } catch (const std::exception &) {
    // Despite the policy it throws, because it converts parameters to integers.
    return undefined;
  }
#else // for devices, where nothing throws
  return boost::math::hypergeometric_1F1(a, b, x, Quiet());
#endif
}

//===----------------------------------------------------------------------===//
// 2F1
//===----------------------------------------------------------------------===//

Extended gaussSeries(Extended a, Extended b, Extended c, Extended x) {
  Extended term = 1, sum = 1;
  for (int n = 0; n < 2000000 && term != 0; ++n) {
    term *= (a + n) * (b + n) / (c + n) * x / (n + 1);
    sum += term;
    if (!(std::fabs(term) > std::fabs(sum) * 1e-21L)) // a nan ends it, too
      break;
  }
  return sum;
}

/// gamma(p) gamma(q) / (gamma(r) gamma(s)).
Extended gammaQuotient(Extended p, Extended q, Extended r, Extended s) {
  if (isNonPositiveInteger(r) || isNonPositiveInteger(s))
    return 0;
  int signs[4];
  Extended logarithm =
      lgammal_r(p, &signs[0]) + lgammal_r(q, &signs[1]) - lgammal_r(r, &signs[2]) - lgammal_r(s, &signs[3]);
  return signs[0] * signs[1] * signs[2] * signs[3] * std::exp(logarithm);
}

/// For 0 <= x < 1. Near 1 by the connection to 1 - x (DLMF 15.8.4), unless c - a - b is an integer, at which both of
/// its terms have a pole: there the series takes more terms.
Extended gaussInside(Extended a, Extended b, Extended c, Extended x) {
  Extended d = c - a - b;
  if (x > 0.8L && std::fabs(d - std::round(d)) > 1e-3L) {
    Extended y = 1 - x;
    return gammaQuotient(c, d, c - a, c - b) * gaussSeries(a, b, 1 - d, y) +
           std::pow(y, d) * gammaQuotient(c, -d, a, b) * gaussSeries(c - a, c - b, 1 + d, y);
  }
  if (d < 0)
    return std::pow(1 - x, d) * gaussSeries(c - a, c - b, c, x);
  return gaussSeries(a, b, c, x);
}

Extended gauss(Extended a, Extended b, Extended c, Extended x) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c) || std::isnan(x))
    return undefined;
  if (x == 0 || a == 0 || b == 0)
    return 1;
  bool ends = (isNonPositiveInteger(a) && a > -1e5L) || (isNonPositiveInteger(b) && b > -1e5L);
  Extended last = isNonPositiveInteger(a) ? a : b;
  if (isNonPositiveInteger(a) && isNonPositiveInteger(b))
    last = std::max(a, b);
  if (isNonPositiveInteger(c) && !(ends && last > c))
    return infinity;
  if (ends)
    return gaussSeries(a, b, c, x);
  Extended d = c - a - b;
  if (x == 1)
    return d > 0 ? gammaQuotient(c, d, c - a, c - b) : infinity;
  if (x > 1)
    return infinity;
  if (b == c)
    return std::pow(1 - x, -a);
  if (a == c)
    return std::pow(1 - x, -b);
  if (x >= -0.3L)
    return x < 0 ? gaussSeries(a, b, c, x) : gaussInside(a, b, c, x);
  // Pfaff's transformation, to the side with the smaller polynomial part.
  if (std::fabs(a) < std::fabs(b))
    return std::pow(1 - x, -a) * gaussInside(a, c - b, c, x / (x - 1));
  return std::pow(1 - x, -b) * gaussInside(c - a, b, c, x / (x - 1));
}

} // namespace

double pcrt::special::bessel_i0e(double x) { return std::isnan(x) ? x : scaledBessel(0, std::fabs(x)); }

double pcrt::special::bessel_i1e(double x) {
  return std::isnan(x) ? x : std::copysign(scaledBessel(1, std::fabs(x)), x);
}

double pcrt::special::bessel_j(double order, double x) {
  double n = std::fabs(order);
  if (n != std::floor(n) || std::isnan(x))
    return undefined;
  if (std::isinf(x)) // the C library of kernels has a nan
    return 0;
  // |J| <= |x / 2|^n / n! (DLMF 10.14.4): by the recurrence, a 0 of order n would take n steps.
  int sign;
  if (n > 100 && n * std::log(std::fabs(x) / 2) - lgamma_r(n + 1, &sign) < -800)
    return 0;
  return n > 1e6 ? undefined : jn(static_cast<int>(order), x);
}

/// sqrt((2n + 1) / (4 pi) (n - m)! / (n + m)!) P(n, m)(cos theta), with Condon and Shortley's phase, by the recurrence
/// in n that is normalized at each step.
double pcrt::special::sph_legendre(double degree, double order, double theta) {
  if (!(degree >= 0) || degree != std::floor(degree) || order != std::floor(order) || std::isnan(theta) || degree > 1e6)
    return undefined;
  auto n = static_cast<int>(degree), m = static_cast<int>(std::fabs(order));
  if (std::fabs(order) > degree)
    return 0;
  Extended x = std::cos(static_cast<Extended>(theta)), s = std::sin(static_cast<Extended>(theta));
  Extended diagonal = 1 / std::sqrt(4 * pi);
  for (int k = 1; k <= m; ++k)
    diagonal *= -s * std::sqrt((2 * k + 1) / (2.0L * k));
  if (order < 0 && m % 2)
    diagonal = -diagonal;
  Extended before = 0, value = diagonal;
  for (int k = m + 1; k <= n; ++k) {
    Extended width = static_cast<Extended>(k) * k - static_cast<Extended>(m) * m;
    Extended last = static_cast<Extended>(k - 1) * (k - 1) - static_cast<Extended>(m) * m;
    Extended up = std::sqrt((2.0L * k - 1) * (2.0L * k + 1) / width);
    Extended down = k == m + 1 ? 0 : std::sqrt((2.0L * k + 1) * last / ((2.0L * k - 3) * width));
    Extended next = up * x * value - down * before;
    before = value;
    value = next;
  }
  return static_cast<double>(value);
}

double pcrt::special::hyp1f1(double a, double b, double x) { return static_cast<double>(confluent(a, b, x)); }

double pcrt::special::hyp1f1_grad_a(double a, double b, double x) {
  if (auto slope = confluentSum<Of::SlopeOfA, Extended>(a, b, x, toleranceOfSlopes))
    return static_cast<double>(*slope);
  return slopeOf(reach(a), [&](Extended step) { return confluent(a + step, b, x); });
}

double pcrt::special::hyp1f1_grad_b(double a, double b, double x) {
  if (auto slope = confluentSum<Of::SlopeOfB, Extended>(a, b, x, toleranceOfSlopes))
    return static_cast<double>(*slope);
  return slopeOf(reachBetweenPoles(b), [&](Extended step) { return confluent(a, b + step, x); });
}

float pcrt::special::hyp1f1(float a, float b, float x) { return singleConfluent<Of::Value>(a, b, x, hyp1f1); }

float pcrt::special::hyp1f1_grad_a(float a, float b, float x) {
  return singleConfluent<Of::SlopeOfA>(a, b, x, hyp1f1_grad_a);
}

float pcrt::special::hyp1f1_grad_b(float a, float b, float x) {
  return singleConfluent<Of::SlopeOfB>(a, b, x, hyp1f1_grad_b);
}

double pcrt::special::hyp2f1(double a, double b, double c, double x) { return static_cast<double>(gauss(a, b, c, x)); }

double pcrt::special::hyp2f1_grad_a(double a, double b, double c, double x) {
  return slopeOf(reach(a), [&](Extended step) { return gauss(a + step, b, c, x); });
}

double pcrt::special::hyp2f1_grad_c(double a, double b, double c, double x) {
  return slopeOf(reachBetweenPoles(c), [&](Extended step) { return gauss(a, b, c + step, x); });
}

// Special functions that are integrals: relatives of the error function, exponential, sine, cosine and Fresnel
// integrals, the dilogarithm, Owen's T.
#include "SpecialFunctions.h"

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/expint.hpp>
#include <boost/math/special_functions/owens_t.hpp>

#include <algorithm>
#include <cmath>
#include <complex>

using namespace pcrt::special;

namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::underflow_error<policies::ignore_error>, policies::denorm_error<policies::ignore_error>,
                     policies::rounding_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>>;
using Complex = std::complex<Extended>;

//===----------------------------------------------------------------------===//
// The Faddeeva function w(z) = exp(-z^2) erfc(-iz)
//===----------------------------------------------------------------------===//

/// In the first quadrant: far out, by the continued fraction of Laplace; else by the trapezoidal rules with corrections
/// for the pole of M. Al Azah and S. Chandler-Wilde, "Computation of the complex error function using modified
/// trapezoidal rules", 2021.
Complex faddeevaFirst(Extended x, Extended y) {
  constexpr Complex i(0, 1);
  Complex z(x, y);
  if (std::hypot(x, y) > 1e8L)
    return i / (sqrtPi * z);
  if (x * x + y * y > 72) {
    Complex tail = 0;
    for (int n = 22; n > 0; --n)
      tail = (0.5L * n) / (z - tail);
    Complex w = i / (sqrtPi * (z - tail));
    return y == 0 ? Complex(std::exp(-x * x), w.imag()) : w;
  }
  if (x * x + y * y < 0.25L) { // sum of (iz)^n / gamma(n/2 + 1), which preserves small imaginary parts
    Complex power = 1, even = 1, odd = 2.0L / sqrtPi, total = 1, turned(-y, x);
    for (int n = 1; n < 60; ++n) {
      power *= turned;
      Complex &term = n % 2 ? odd : even;
      if (n > 1)
        term /= n / 2.0L;
      total += power * term;
    }
    return total;
  }
  constexpr int count = 17;
  const Extended h = std::sqrt(pi / (count + 1));
  auto sum = [&](Extended shift, int first) {
    Complex total = 0;
    for (int k = first; k <= count; ++k) {
      Extended t = (k + shift) * h;
      // z^2 - t^2 as a product, which preserves the digits of a small difference.
      total += std::exp(-t * t) / ((z - t) * (z + t));
    }
    return 2.0L * i * h * z / pi * total;
  };
  if (y >= std::max(x, pi / h))
    return sum(0.5L, 0);
  Complex gauss = 2.0L * std::exp(-z * z), wave = std::exp(-2.0L * i * pi * z / h);
  Extended phase = x / h - std::floor(x / h);
  if (y < x && phase >= 0.25L && phase <= 0.75L)
    return gauss / (1.0L + wave) + sum(0.5L, 0);
  if (x == 0 && y == 0)
    return 1;
  return gauss / (1.0L - wave) + i * h / (pi * z) + sum(0, 1);
}

Complex faddeeva(Extended x, Extended y) {
  if (std::isnan(x) || std::isnan(y))
    return {undefined, undefined};
  Complex w = faddeevaFirst(std::fabs(x), std::fabs(y));
  if (x < 0)
    w = std::conj(w);
  if (!(y < 0))
    return w;
  // w(-z) = 2 exp(-z^2) - w(z); the sum above is for the point mirrored at the real axis.
  Complex mirrored = std::conj(w); // w at (-x, -y)
  Extended size = std::exp((y - x) * (y + x)), angle = -2 * x * y;
  if (x == 0)
    return {2 * size - mirrored.real(), 0};
  return Complex(2 * size * std::cos(angle), 2 * size * std::sin(angle)) - mirrored;
}

//===----------------------------------------------------------------------===//
// Sine, cosine and Fresnel integrals
//===----------------------------------------------------------------------===//

struct Pair {
  double sine, cosine;
};

/// Si and Ci of x > 0: power series, from 4 on the continued fraction of E1(ix) by Lentz's method (DLMF 6.9.1).
Pair sineCosineIntegrals(double given) {
  Extended x = given;
  if (std::isinf(given))
    return {static_cast<double>(pi / 2), 0};
  if (x < 4) {
    Extended sine = 0, cosine = 0, power = 1; // power = x^n / n!
    for (int n = 1; n < 60; ++n) {
      power *= x / n;
      Extended term = (n / 2) % 2 ? -power / n : power / n;
      (n % 2 ? sine : cosine) += term;
      if (power < 1e-22L)
        break;
    }
    return {static_cast<double>(sine), static_cast<double>(eulerGamma + std::log(x) + cosine)};
  }
  Complex b(1, x), c = 1e300L, d = 1.0L / b, h = d;
  for (int n = 1; n < 2000; ++n) {
    Extended a = -static_cast<Extended>(n) * n;
    b += 2;
    d = 1.0L / (a * d + b);
    c = b + a / c;
    Complex factor = c * d;
    h *= factor;
    if (std::fabs(factor.real() - 1) + std::fabs(factor.imag()) < 1e-19L)
      break;
  }
  h *= Complex(std::cos(x), -std::sin(x));
  return {static_cast<double>(pi / 2 + h.imag()), static_cast<double>(-h.real())};
}

/// The sine and cosine of pi x^2 / 2. Only the remainder of x^2 modulo 4 matters, and its low half beyond 53 bits.
void fresnelPhase(double x, Extended &sine, Extended &cosine) {
  double square = x * x, rest = std::fma(x, x, -square);
  Extended phase = std::isinf(square) ? 0 : std::fmod(static_cast<Extended>(square), 4) + rest;
  sine = std::sin(pi / 2 * phase);
  cosine = std::cos(pi / 2 * phase);
}

/// S and C of x > 0: power series, from 1.5 on C + iS = (1 + i) / 2 (1 - exp(i pi x^2 / 2) w(sqrt(pi) / 2 (1 + i) x)),
/// DLMF 7.5.8 with w.
Pair fresnel(double given) {
  Extended x = given;
  if (given > 1e18)
    return {0.5, 0.5};
  if (x < 1.5L) {
    Extended t = pi / 2 * x * x, sine = 0, cosine = 0, power = x; // power = x t^n / n!
    for (int n = 0; n < 60; ++n) {
      Extended term = ((n / 2) % 2 ? -power : power) / (2 * n + 1);
      (n % 2 ? sine : cosine) += term;
      power *= t / (n + 1);
      if (power < x * 1e-24L && n > 2)
        break;
    }
    return {static_cast<double>(sine), static_cast<double>(cosine)};
  }
  Extended sine, cosine;
  fresnelPhase(given, sine, cosine);
  Extended part = sqrtPi / 2 * x;
  Complex value = Complex(0.5L, 0.5L) * (1.0L - Complex(cosine, sine) * faddeevaFirst(part, part));
  return {static_cast<double>(value.imag()), static_cast<double>(value.real())};
}

//===----------------------------------------------------------------------===//
// The dilogarithm
//===----------------------------------------------------------------------===//

/// Li2(1 - x) for x in 1/2..2 by the series in -log(x) whose coefficients are Bernoulli's numbers.
Extended dilogarithmNearOne(Extended x) {
  constexpr Extended coefficients[] = {// B(2k) / (2k + 1)!
                                       1.0L / 36,
                                       -1.0L / 3600,
                                       1.0L / 211680,
                                       -1.0L / 10886400,
                                       1.0L / 526901760,
                                       -691.0L / 16999766784000.0L,
                                       1.0L / 1120863744000.0L,
                                       -3617.0L / 181400588328960000.0L,
                                       43867.0L / 97072790126247936000.0L,
                                       -174611.0L / 16860010916664115200000.0L};
  Extended u = -std::log(x), square = u * u, sum = 0;
  for (int k = int(std::size(coefficients)) - 1; k >= 0; --k)
    sum = sum * square + coefficients[k];
  return u - square / 4 + u * square * sum;
}

} // namespace

double pcrt::special::wofz_real(double x, double y) { return static_cast<double>(faddeeva(x, y).real()); }
double pcrt::special::wofz_imag(double x, double y) { return static_cast<double>(faddeeva(x, y).imag()); }

double pcrt::special::erfcx(double given) {
  Extended x = given;
  if (std::isnan(given))
    return given;
  if (given < -27)
    return infinity;
  if (x < 50)
    return static_cast<double>(std::exp(x * x) * std::erfc(x));
  Extended t = 1 / (2 * x * x);
  return static_cast<double>((1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t * (1 - 9 * t))))) / (x * sqrtPi));
}

/// By the sampled sum of G. Rybicki, "Dawson's integral and the sampling theorem", 1989; its error is exp(-(pi/2h)^2).
double pcrt::special::dawsn(double given) {
  Extended x = std::fabs(static_cast<Extended>(given)), result;
  if (std::isnan(given))
    return given;
  if (x < 0.5L) {
    Extended term = x, square = x * x;
    result = x;
    for (int n = 1; n < 40 && term != 0; ++n) {
      term *= -2 * square / (2 * n + 1);
      result += term;
    }
  } else if (x > 12) {
    Extended t = 1 / (2 * x * x), term = 1, sum = 1;
    for (int n = 1; n < 40; ++n) {
      term *= (2 * n - 1) * t;
      sum += term;
    }
    result = sum / (2 * x);
  } else {
    constexpr Extended h = 0.2L;
    Extended center = 2 * std::round(x / (2 * h)), offset = x - center * h, sum = 0;
    for (int n = -37; n <= 37; n += 2)
      sum += std::exp(-(offset - n * h) * (offset - n * h)) / (center + n);
    result = sum / sqrtPi;
  }
  return static_cast<double>(std::copysign(result, static_cast<Extended>(given)));
}

double pcrt::special::log_ndtr(double given) {
  Extended x = given;
  if (x > 0)
    return static_cast<double>(std::log1p(-std::erfc(x / sqrt2) / 2));
  if (x > -10)
    return static_cast<double>(std::log(std::erfc(-x / sqrt2) / 2));
  if (std::isinf(given) || std::isnan(given))
    return given;
  // The number of terms of the continued fraction of erfcx that double precision needs beyond 10.
  Extended t = -x, tail = t;
  for (int n = 60; n > 0; --n)
    tail = t + n / tail;
  constexpr Extended halfLogTwoPi = 0.918938533204672741780329736405617640L;
  return static_cast<double>(-x * x / 2 - halfLogTwoPi - std::log(tail));
}

double pcrt::special::ndtri(double p) {
  if (!(p >= 0) || !(p <= 1))
    return undefined;
  if (p == 0 || p == 1)
    return p == 0 ? -infinity : infinity;
  if (p <= 0.5)
    return static_cast<double>(-sqrt2 * boost::math::erfc_inv(2 * p, Quiet()));
  return static_cast<double>(sqrt2 * boost::math::erfc_inv(2 * (1 - p), Quiet()));
}

double pcrt::special::exp1(double x) { return expn(1, x); }

double pcrt::special::expi(double x) {
  if (x == 0 || std::isinf(x))
    return x == 0 ? -infinity : x > 0 ? x : -0.0;
  return boost::math::expint(x, Quiet());
}

double pcrt::special::expn(double n, double x) {
  if (!(n >= 0) || !(x >= 0) || n != std::floor(n))
    return undefined;
  if (x == 0)
    return n < 2 ? infinity : 1 / (n - 1);
  if (std::isinf(x))
    return 0;
  if (n >= 5000) { // DLMF 8.20.3
    Extended sum = x + n, t = n / (sum * sum);
    return static_cast<double>(
        std::exp(-static_cast<Extended>(x)) / sum *
        (1 + t + t * (n - 2 * x) / (sum * sum) + t * (6.0L * x * x - 8.0L * n * x + n * n) / (sum * sum * sum * sum)));
  }
  return boost::math::expint(static_cast<unsigned>(n), x, Quiet());
}

double pcrt::special::fresnel_sin(double x) { return std::isnan(x) ? x : std::copysign(fresnel(std::fabs(x)).sine, x); }

double pcrt::special::fresnel_cos(double x) {
  return std::isnan(x) ? x : std::copysign(fresnel(std::fabs(x)).cosine, x);
}

double pcrt::special::sin_integral(double x) {
  return std::isnan(x) ? x : std::copysign(sineCosineIntegrals(std::fabs(x)).sine, x);
}

double pcrt::special::cos_integral(double x) {
  if (x == 0)
    return -infinity;
  return !(x > 0) ? undefined : sineCosineIntegrals(x).cosine;
}

double pcrt::special::spence(double given) {
  Extended x = given;
  constexpr Extended sixth = pi * pi / 6;
  if (!(given >= 0))
    return undefined;
  if (given == 0 || std::isinf(given))
    return given == 0 ? static_cast<double>(sixth) : -infinity;
  if (x < 0.5L)
    return static_cast<double>(sixth - std::log(x) * std::log1p(-x) - dilogarithmNearOne(1 - x));
  if (x <= 2)
    return static_cast<double>(dilogarithmNearOne(x));
  Extended logarithm = std::log(x), inverse = 1 / x;
  Extended rest = inverse >= 0.5L ? dilogarithmNearOne(inverse)
                                  : sixth + logarithm * std::log1p(-inverse) - dilogarithmNearOne(1 - inverse);
  return static_cast<double>(-rest - logarithm * logarithm / 2);
}

double pcrt::special::owens_t(double h, double a) {
  if (std::isnan(h) || std::isnan(a))
    return undefined;
  if (a == 0 || std::isinf(h))
    return 0;
  if (std::isinf(a))
    return std::copysign(static_cast<double>(std::erfc(std::fabs(static_cast<Extended>(h)) / sqrt2) / 4), a);
  return boost::math::owens_t(h, a, Quiet());
}

// Functions of the C library that device code calls and that are not operations of the math dialect
// (dialect/lib/Gpu/LinkDeviceLibrary.cpp lists those). `long double` is double on devices, so each function has two
// names.
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/hypot.hpp>

#include <cmath>

namespace {

double logGamma(double x, int *sign) {
  *sign = std::signbit(x) && x == 0 ? -1 : 1;
  if (std::isinf(x) || x == 0 || (x < 0 && x == std::floor(x)))
    return HUGE_VAL;
  return std::isnan(x) ? x : static_cast<double>(boost::math::lgamma(x, sign));
}

double gammaOf(double x) {
  if (x == 0)
    return std::copysign(HUGE_VAL, x);
  if (std::isnan(x) || x == HUGE_VAL)
    return x;
  if (x < 0 && (x == std::floor(x) || std::isinf(x)))
    return NAN;
  return x > 172 ? HUGE_VAL : x < -185 ? 0 : boost::math::tgamma(x);
}

} // namespace

extern "C" {
double lgamma_r(double x, int *sign) noexcept { return logGamma(x, sign); }
long double lgammal_r(long double x, int *sign) noexcept { return logGamma(x, sign); }
double tgamma(double x) noexcept { return gammaOf(x); }
long double tgammal(long double x) noexcept { return gammaOf(x); }
double jn(int order, double x) noexcept { return boost::math::cyl_bessel_j(order, x); }
double hypot(double x, double y) noexcept { return boost::math::hypot(x, y); }
long double hypotl(long double x, long double y) noexcept { return boost::math::hypot(x, y); }

struct DeviceComplex {
  double real, imaginary;
};
/// Called by std::exp of complex numbers.
DeviceComplex cexpl(double real, double imaginary) {
  double size = std::exp(real);
  return imaginary == 0 ? DeviceComplex{size, imaginary}
                        : DeviceComplex{size * std::cos(imaginary), size * std::sin(imaginary)};
}
DeviceComplex cexp(double real, double imaginary) { return cexpl(real, imaginary); }
}

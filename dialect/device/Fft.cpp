// Discrete Fourier transforms along the middle one of the dimensions [outer, n, inner], with one pass for each factor
// of n, in Stockham's order, which needs no permutation. `done` is the product of the factors of earlier passes, and
// rest is n / done. After these passes, from[(j * rest) + k] is coefficient j of the transform of every rest-th element
// from k on.
#include "Device.h"
#include "Elements.h"

namespace device {

/// exp(2 pi i numerator / denominator).
template <typename Real> DEVICE_INLINE std::complex<Real> unit(int64_t numerator, int64_t denominator) {
  constexpr Real twoPi = static_cast<Real>(6.283185307179586476925286766559005768L);
  // Use an angle around zero, where angles are exact to more digits.
  if (2 * numerator > denominator)
    numerator -= denominator;
  Real angle = twoPi * (static_cast<Real>(numerator) / static_cast<Real>(denominator));
  return {std::cos(angle), std::sin(angle)};
}

/// One thread for each result: coefficient `j + q * done` of the elements from k on, from the coefficients of `factor`
/// transforms.
template <typename Real>
DEVICE_INLINE void pass(const std::complex<Real> *from, std::complex<Real> *to, int64_t n, int64_t inner,
                        int64_t factor, int64_t done, int64_t count, int64_t isInverse, double scale) {
  int64_t number = threadOfGrid();
  if (number >= count)
    return;
  int64_t lane = number % inner, place = number / inner % n, outer = number / inner / n;
  int64_t rest = n / (done * factor), frequency = place / rest, k = place % rest, j = frequency % done;
  Real real = 0, imaginary = 0;
  for (int64_t r = 0, power = 0; r < factor; ++r) {
    std::complex<Real> x = from[(outer * n + (j * factor + r) * rest + k) * inner + lane];
    std::complex<Real> w = unit<Real>(power, done * factor);
    Real sine = isInverse ? w.imag() : -w.imag();
    real += x.real() * w.real() - x.imag() * sine;
    imaginary += x.real() * sine + x.imag() * w.real();
    power += frequency;
    if (power >= done * factor)
      power -= done * factor;
  }
  to[number] = {real * static_cast<Real>(scale), imaginary * static_cast<Real>(scale)};
}

/// Copies rows of real numbers to complex ones.
template <typename Real> DEVICE_INLINE void fromReal(const Real *from, std::complex<Real> *to, int64_t count) {
  if (int64_t i = threadOfGrid(); i < count)
    to[i] = {from[i], 0};
}
template <typename Real> DEVICE_INLINE void toReal(const std::complex<Real> *from, Real *to, int64_t count) {
  if (int64_t i = threadOfGrid(); i < count)
    to[i] = from[i].real();
}

template <typename Real> DEVICE_INLINE void clear(std::complex<Real> *to, int64_t count) {
  if (int64_t i = threadOfGrid(); i < count)
    to[i] = 0;
}

/// Copies the first `half` of each row of n; and completes rows of n from their first half, whose conjugates are the
/// rest.
template <typename Real>
DEVICE_INLINE void halve(const std::complex<Real> *from, std::complex<Real> *to, int64_t n, int64_t half,
                         int64_t count) {
  if (int64_t i = threadOfGrid(); i < count)
    to[i] = from[i / half * n + i % half];
}
template <typename Real>
DEVICE_INLINE void complete(const std::complex<Real> *from, std::complex<Real> *to, int64_t n, int64_t half,
                            int64_t count) {
  int64_t i = threadOfGrid();
  if (i >= count)
    return;
  int64_t row = i / n, place = i % n;
  to[i] = place < half ? from[row * half + place] : std::conj(from[row * half + n - place]);
}

} // namespace device

#define DEVICE_FFT(name, Real)                                                                                         \
  extern "C" void fft_pass_##name(const std::complex<Real> *from, std::complex<Real> *to, int64_t n, int64_t inner,    \
                                  int64_t factor, int64_t done, int64_t count, int64_t isInverse, double scale) {      \
    device::pass(from, to, n, inner, factor, done, count, isInverse, scale);                                           \
  }                                                                                                                    \
  extern "C" void fft_from_real_##name(const Real *from, std::complex<Real> *to, int64_t count) {                      \
    device::fromReal(from, to, count);                                                                                 \
  }                                                                                                                    \
  extern "C" void fft_to_real_##name(const std::complex<Real> *from, Real *to, int64_t count) {                        \
    device::toReal(from, to, count);                                                                                   \
  }                                                                                                                    \
  extern "C" void fft_clear_##name(std::complex<Real> *to, int64_t count) { device::clear(to, count); }                \
  extern "C" void fft_halve_##name(const std::complex<Real> *from, std::complex<Real> *to, int64_t n, int64_t half,    \
                                   int64_t count) {                                                                    \
    device::halve(from, to, n, half, count);                                                                           \
  }                                                                                                                    \
  extern "C" void fft_complete_##name(const std::complex<Real> *from, std::complex<Real> *to, int64_t n, int64_t half, \
                                      int64_t count) {                                                                 \
    device::complete(from, to, n, half, count);                                                                        \
  }
DEVICE_FFT(c64, float)
DEVICE_FFT(c128, double)

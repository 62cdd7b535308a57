// Shared parts of the linear algebra routines. A matrix is row-major. A block works on one matrix, or a thread on one
// of its columns.
#ifndef DEVICE_MATRIX_H
#define DEVICE_MATRIX_H

#include "Device.h"
#include "Elements.h"

#include <cmath>
#include <limits>

#define DEVICE_MATRICES(X) X(f32, float) X(f64, double) DEVICE_COMPLEX(X)

namespace device {

template <typename T> struct RealPart {
  using Type = T;
};
template <typename T> struct RealPart<std::complex<T>> {
  using Type = T;
};
template <typename T> using RealOf = typename RealPart<T>::Type;
template <typename T> constexpr bool isComplex = !std::is_same_v<RealOf<T>, T>;

template <typename T> DEVICE_INLINE RealOf<T> real(T x) {
  if constexpr (isComplex<T>)
    return x.real();
  else
    return x;
}
template <typename T> DEVICE_INLINE RealOf<T> imaginary(T x) {
  if constexpr (isComplex<T>)
    return x.imag();
  else
    return 0;
}
template <typename T> DEVICE_INLINE T conjugate(T x) {
  if constexpr (isComplex<T>)
    return std::conj(x);
  else
    return x;
}
template <typename T> DEVICE_INLINE double square(T x) {
  double a = real(x), b = imaginary(x);
  return a * a + b * b;
}
/// The magnitude by which LAPACK chooses pivots.
template <typename T> DEVICE_INLINE RealOf<T> size(T x) { return std::fabs(real(x)) + std::fabs(imaginary(x)); }

template <typename T> DEVICE_INLINE T divided(T a, T b) {
  if constexpr (isComplex<T>) {
    // Scale by the largest part of the divisor, so that its square does not overflow.
    RealOf<T> scale = std::fmax(std::fabs(b.real()), std::fabs(b.imag()));
    T unit(b.real() / scale, b.imag() / scale), product = a * std::conj(unit);
    RealOf<T> norm = scale * (unit.real() * unit.real() + unit.imag() * unit.imag());
    return {product.real() / norm, product.imag() / norm};
  } else {
    return a / b;
  }
}

template <typename T> DEVICE_INLINE T undefined() { return T(std::numeric_limits<RealOf<T>>::quiet_NaN()); }

/// Distributes the numbers below `count` over the threads of the block. All are done on return.
template <typename Body> DEVICE_INLINE void forEach(int64_t count, Body body) {
  for (int64_t i = device_thread(); i < count; i += device_threads())
    body(i);
  device_barrier();
}

/// The sum of the values of all threads of the block, in a fixed order.
DEVICE_INLINE double sumOfBlock(double own, double *shared) {
  shared[device_thread()] = own;
  device_barrier();
  for (int32_t half = device_threads() / 2; half > 0; half /= 2) {
    if (device_thread() < half)
      shared[device_thread()] += shared[device_thread() + half];
    device_barrier();
  }
  double sum = shared[0];
  device_barrier();
  return sum;
}

/// The first number of [low, high) that maximizes `valueAt`. `shared` has two places for each thread.
template <typename Value>
DEVICE_INLINE int64_t greatestOfBlock(int64_t low, int64_t high, double *shared, Value valueAt) {
  double *places = shared + device_threads();
  double best = -1;
  int64_t place = low;
  for (int64_t i = low + device_thread(); i < high; i += device_threads())
    if (double value = valueAt(i); value > best) {
      best = value;
      place = i;
    }
  shared[device_thread()] = best;
  places[device_thread()] = static_cast<double>(place);
  device_barrier();
  for (int32_t half = device_threads() / 2; half > 0; half /= 2) {
    int32_t i = device_thread();
    if (i < half && (shared[i + half] > shared[i] || (shared[i + half] == shared[i] && places[i + half] < places[i]))) {
      shared[i] = shared[i + half];
      places[i] = places[i + half];
    }
    device_barrier();
  }
  auto result = static_cast<int64_t>(places[0]);
  device_barrier();
  return result;
}

} // namespace device

#endif // DEVICE_MATRIX_H

// Householder reflectors. A reflector is 1 - tau v vᴴ. The vector v is 1 at its position k, and its elements after k
// are stored in the matrix. One thread applies a reflector to a column.
#ifndef DEVICE_REFLECTOR_H
#define DEVICE_REFLECTOR_H

#include "Matrix.h"

namespace device {

/// Subtracts factor v (vᴴ x) from x, whose elements are x[i * step]; v is 1 at k, and v[i * n] below.
template <typename T>
DEVICE_INLINE void reflect(const T *v, int64_t n, int64_t k, int64_t m, T factor, T *x, int64_t step) {
  T sum = x[k * step];
  for (int64_t i = k + 1; i < m; ++i)
    sum += conjugate(v[i * n]) * x[i * step];
  sum *= factor;
  x[k * step] -= sum;
  for (int64_t i = k + 1; i < m; ++i)
    x[i * step] -= v[i * n] * sum;
}

/// The same from the right, for a row: x - factor (x v) vᴴ.
template <typename T> DEVICE_INLINE void reflectRow(const T *v, int64_t n, int64_t k, int64_t m, T factor, T *x) {
  T sum = x[k];
  for (int64_t i = k + 1; i < m; ++i)
    sum += x[i] * v[i * n];
  sum *= factor;
  x[k] -= sum;
  for (int64_t i = k + 1; i < m; ++i)
    x[i] -= sum * conjugate(v[i * n]);
}

/// Makes a reflector of a column of `count` elements x[i * step], in place. It maps the column to a multiple of the
/// first unit vector, whose factor is written to the first element. Returns tau.
template <typename T> DEVICE_INLINE T makeReflector(T *x, int64_t step, int64_t count, double *shared) {
  double own = 0;
  for (int64_t i = 1 + device_thread(); i < count; i += device_threads())
    own += square(x[i * step]);
  double below = sumOfBlock(own, shared);
  T alpha = x[0];
  device_barrier(); // wait before it changes
  if (below == 0 && imaginary(alpha) == 0)
    return T(0);
  RealOf<T> norm = static_cast<RealOf<T>>(std::sqrt(square(alpha) + below));
  RealOf<T> beta = real(alpha) > 0 || (real(alpha) == 0 && !std::signbit(real(alpha))) ? -norm : norm;
  T tau = divided(T(beta) - alpha, T(beta));
  forEach(count, [&](int64_t i) { x[i * step] = i == 0 ? T(beta) : divided(x[i * step], alpha - T(beta)); });
  return tau;
}

} // namespace device

#endif // DEVICE_REFLECTOR_H

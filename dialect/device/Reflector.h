// Householder reflectors. A reflector is 1 - tau v vᴴ, v being 1 at its place, and below it in the matrix; its product
// with a column is one thread's work.
#ifndef DEVICE_REFLECTOR_H
#define DEVICE_REFLECTOR_H

#include "Matrix.h"

namespace device {

/// Subtracts factor v (vᴴ x) from x, of which x[i * step] is element i; v is 1 at k, and v[i * n] below.
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

/// The same from the right: x - factor (x v) vᴴ, of a row.
template <typename T> DEVICE_INLINE void reflectRow(const T *v, int64_t n, int64_t k, int64_t m, T factor, T *x) {
  T sum = x[k];
  for (int64_t i = k + 1; i < m; ++i)
    sum += x[i] * v[i * n];
  sum *= factor;
  x[k] -= sum;
  for (int64_t i = k + 1; i < m; ++i)
    x[i] -= sum * conjugate(v[i * n]);
}

/// Makes a column of `count` elements, of which x[i * step] is one, the reflector that takes it to a multiple of the
/// unit vector of its first element, which is written there. Returns tau.
template <typename T> DEVICE_INLINE T makeReflector(T *x, int64_t step, int64_t count, double *shared) {
  double own = 0;
  for (int64_t i = 1 + device_thread(); i < count; i += device_threads())
    own += square(x[i * step]);
  double below = sumOfBlock(own, shared);
  T alpha = x[0];
  device_barrier(); // before it changes
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

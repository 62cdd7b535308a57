// Two-sided reductions by Householder reflectors: to Hessenberg form, and of Hermitian matrices to tridiagonal form.
// Each block has one matrix; each thread reflects a row or a column. Signs and storage are those of LAPACK's gehrd and
// sytrd.
#include "Reflector.h"

namespace device {

/// Reduces `a`, [n, n], to Hessenberg form, with the reflectors below it: column k holds the reflector whose unit
/// element is in row k + 1. Scalar k of the n - 1 taus is tauOf(k).
template <typename T, typename TauOf> DEVICE_INLINE void reduce(T *a, int64_t n, TauOf tauOf, double *shared) {
  for (int64_t k = 0; k + 1 < n; ++k) {
    T tau = makeReflector(a + (k + 1) * n + k, n, n - k - 1, shared);
    if (device_thread() == 0)
      tauOf(k) = tau;
    if (tau == T(0))
      continue;
    forEach(n, [&](int64_t i) { reflectRow(a + k, n, k + 1, n, tau, a + i * n); });
    forEach(n - k - 1, [&](int64_t j) { reflect(a + k, n, k + 1, n, conjugate(tau), a + k + 1 + j, n); });
  }
}

template <typename T> DEVICE_INLINE void hessenberg(const T *from, T *to, T *taus, int64_t n, double *shared) {
  from += device_block() * n * n;
  to += device_block() * n * n;
  taus += device_block() * (n - 1);
  forEach(n * n, [&](int64_t i) { to[i] = from[i]; });
  reduce(to, n, [&](int64_t k) -> T & { return taus[k]; }, shared);
}

/// Only one triangle is read. LAPACK reduces an upper triangle from its last column on, which is a lower triangle with
/// rows and columns reversed. `work` is [n, n].
template <typename T>
DEVICE_INLINE void tridiagonal(const T *from, T *to, RealOf<T> *diagonal, RealOf<T> *beside, T *taus, T *work,
                               int64_t n, int64_t isLower, double *shared) {
  from += device_block() * n * n;
  to += device_block() * n * n;
  work += device_block() * n * n;
  diagonal += device_block() * n;
  beside += device_block() * (n - 1);
  taus += device_block() * (n - 1);
  // The position in `work` of element `i` of `count`.
  auto placeOf = [=](int64_t i, int64_t count) { return isLower ? i : count - 1 - i; };
  forEach(n * n, [&](int64_t i) {
    int64_t row = i / n, column = i % n;
    bool isGiven = isLower ? column <= row : row <= column;
    T x = isGiven ? from[i] : conjugate(from[column * n + row]);
    work[placeOf(row, n) * n + placeOf(column, n)] = row == column ? T(real(x)) : x;
  });
  reduce(work, n, [&](int64_t k) -> T & { return taus[placeOf(k, n - 1)]; }, shared);
  forEach(n * n, [&](int64_t i) {
    int64_t row = i / n, column = i % n;
    T x = work[placeOf(row, n) * n + placeOf(column, n)];
    if (row == column)
      diagonal[row] = real(x);
    if (isLower ? row == column + 1 : column == row + 1)
      beside[isLower ? column : row] = real(x);
    to[i] = row == column ? T(real(x)) : (row > column) == (isLower != 0) ? x : from[i];
  });
}

} // namespace device

#define DEVICE_HESSENBERG(name, T)                                                                                     \
  extern "C" void hessenberg_##name(const T *from, T *to, T *taus, int64_t n, double *shared) {                        \
    device::hessenberg(from, to, taus, n, shared);                                                                     \
  }                                                                                                                    \
  extern "C" void tridiagonal_##name(const T *from, T *to, device::RealOf<T> *diagonal, device::RealOf<T> *beside,     \
                                     T *taus, T *work, int64_t n, int64_t isLower, double *shared) {                   \
    device::tridiagonal(from, to, diagonal, beside, taus, work, n, isLower, shared);                                   \
  }
DEVICE_MATRICES(DEVICE_HESSENBERG)

// LU factors, computed by the threads of a block, and triangular systems, solved by one thread.
#ifndef DEVICE_LU_H
#define DEVICE_LU_H

#include "Matrix.h"

namespace device {

/// The access of a thread to op(A), and whether op(A) is lower triangular.
template <typename T> struct Triangle {
  const T *a;
  int64_t n;
  bool isLower, isTransposed, isConjugated, hasUnitDiagonal;

  DEVICE_INLINE T at(int64_t i, int64_t j) const {
    T x = isTransposed ? a[j * n + i] : a[i * n + j];
    return isConjugated ? conjugate(x) : x;
  }
  /// Solves for the vector with elements x[i * step], in place.
  DEVICE_INLINE void solve(T *x, int64_t step) const {
    bool isForward = isLower != isTransposed;
    for (int64_t k = 0; k < n; ++k) {
      int64_t i = isForward ? k : n - 1 - k;
      T sum = x[i * step];
      for (int64_t j = isForward ? 0 : i + 1, end = isForward ? i : n; j < end; ++j)
        sum -= at(i, j) * x[j * step];
      x[i * step] = hasUnitDiagonal ? sum : divided(sum, at(i, i));
    }
  }
};

/// Factors an [m, n] matrix in place, with LAPACK's row swaps. `shared` has two places for each thread.
template <typename T> DEVICE_INLINE void factorLu(T *a, int32_t *pivots, int64_t m, int64_t n, double *shared) {
  int64_t rank = m < n ? m : n;
  for (int64_t k = 0; k < rank; ++k) {
    int64_t pivot = greatestOfBlock(k, m, shared, [&](int64_t i) { return double(size(a[i * n + k])); });
    forEach(n, [&](int64_t j) {
      if (j == 0)
        pivots[k] = static_cast<int32_t>(pivot);
      T moved = a[k * n + j];
      a[k * n + j] = a[pivot * n + j];
      a[pivot * n + j] = moved;
    });
    T diagonal = a[k * n + k];
    if (diagonal == T(0))
      continue;
    forEach(m - k - 1, [&](int64_t i) { a[(k + 1 + i) * n + k] = divided(a[(k + 1 + i) * n + k], diagonal); });
    int64_t rest = n - k - 1;
    forEach((m - k - 1) * rest, [&](int64_t i) {
      int64_t row = k + 1 + i / rest, column = k + 1 + i % rest;
      a[row * n + column] -= a[row * n + k] * a[k * n + column];
    });
  }
}

} // namespace device

#endif // DEVICE_LU_H

// Factorizations for linear systems: cholesky, triangular_solve, lu, linear_solve and their relatives. A block factors
// a matrix in place, column by column; a thread solves for one vector. The conventions are LAPACK's.
#include "Lu.h"

namespace device {

/// The lower factor of the matrix with the lower triangle `from`; nan if it is not positive definite.
template <typename T> DEVICE_INLINE void cholesky(const T *from, T *to, int64_t n) {
  from += device_block() * n * n;
  to += device_block() * n * n;
  forEach(n * n, [&](int64_t i) { to[i] = i % n <= i / n ? from[i] : T(0); });
  for (int64_t k = 0; k < n; ++k) {
    RealOf<T> pivot = real(to[k * n + k]);
    device_barrier(); // wait before it changes
    if (!(pivot > 0)) {
      forEach(n * n, [&](int64_t i) { to[i] = i % n <= i / n ? undefined<T>() : T(0); });
      return;
    }
    RealOf<T> root = std::sqrt(pivot);
    forEach(n - k, [&](int64_t i) { to[(k + i) * n + k] = i == 0 ? T(root) : to[(k + i) * n + k] / root; });
    int64_t rest = n - k - 1;
    forEach(rest * rest, [&](int64_t i) {
      int64_t row = k + 1 + i / rest, column = k + 1 + i % rest;
      if (column <= row)
        to[row * n + column] -= to[row * n + k] * conjugate(to[column * n + k]);
    });
  }
}

/// One thread for each column of B, or for each row if A stands on the right.
template <typename T>
DEVICE_INLINE void triangularSolve(const T *a, const T *b, T *x, int64_t rows, int64_t columns, int64_t count,
                                   int64_t isConjugated, int64_t isLeft, int64_t isLower, int64_t isTransposed,
                                   int64_t hasUnitDiagonal) {
  int64_t number = threadOfGrid();
  if (number >= count)
    return;
  int64_t n = isLeft ? rows : columns, vectors = isLeft ? columns : rows;
  int64_t matrix = number / vectors, vector = number % vectors, step = isLeft ? columns : 1;
  int64_t first = matrix * rows * columns + (isLeft ? vector : vector * columns);
  for (int64_t i = 0; i < n; ++i)
    x[first + i * step] = b[first + i * step];
  // x op(A) = b is op(A)ᵀ xᵀ = bᵀ.
  bool isSwapped = (isTransposed != 0) == (isLeft != 0);
  Triangle<T>{a + matrix * n * n, n, isLower != 0, isSwapped, isConjugated != 0, hasUnitDiagonal != 0}.solve(x + first,
                                                                                                             step);
}

DEVICE_INLINE void applySwaps(const int32_t *pivots, int64_t count, int32_t *permutation, int64_t size) {
  for (int64_t i = 0; i < size; ++i)
    permutation[i] = static_cast<int32_t>(i);
  for (int64_t i = 0; i < count && i < size; ++i)
    if (int32_t other = pivots[i]; other >= 0 && other < size) {
      int32_t moved = permutation[i];
      permutation[i] = permutation[other];
      permutation[other] = moved;
    }
}

template <typename T>
DEVICE_INLINE void lu(const T *from, T *to, int32_t *pivots, int32_t *permutation, int64_t m, int64_t n,
                      double *shared) {
  int64_t rank = m < n ? m : n;
  from += device_block() * m * n;
  to += device_block() * m * n;
  pivots += device_block() * rank;
  forEach(m * n, [&](int64_t i) { to[i] = from[i]; });
  factorLu(to, pivots, m, n, shared);
  if (device_thread() == 0)
    applySwaps(pivots, rank, permutation + device_block() * m, m);
}

/// One thread for each column of B. With a transposition, the result is computed in `scratch` first.
template <typename T>
DEVICE_INLINE void linearSolve(const T *factors, const int32_t *permutation, const T *b, T *x, T *scratch, int64_t n,
                               int64_t columns, int64_t count, int64_t operation) {
  int64_t number = threadOfGrid();
  if (number >= count)
    return;
  int64_t matrix = number / columns, first = matrix * n * columns + number % columns;
  const T *lu = factors + matrix * n * n;
  const int32_t *order = permutation + matrix * n;
  bool isTransposed = operation != 0, isConjugated = operation == 2;
  Triangle<T> lower{lu, n, true, isTransposed, isConjugated, true},
      upper{lu, n, false, isTransposed, isConjugated, false};
  if (!isTransposed) {
    for (int64_t i = 0; i < n; ++i)
      x[first + i * columns] = b[first + order[i] * columns];
    lower.solve(x + first, columns);
    upper.solve(x + first, columns);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    scratch[first + i * columns] = b[first + i * columns];
  upper.solve(scratch + first, columns);
  lower.solve(scratch + first, columns);
  for (int64_t i = 0; i < n; ++i)
    x[first + order[i] * columns] = scratch[first + i * columns];
}

/// Gaussian elimination with pivots among neighbours (LAPACK's gtsv). The threads of a block share a matrix and the
/// columns of B. `work` has three numbers for each row: below, diagonal, above. Afterwards the first holds the second
/// superdiagonal.
template <typename T>
DEVICE_INLINE void tridiagonalSolve(const T *below, const T *middle, const T *above, const T *b, T *x, T *work,
                                    int64_t n, int64_t columns) {
  int64_t matrix = device_block();
  T *dl = work + matrix * 3 * n, *d = dl + n, *du = d + n;
  x += matrix * n * columns;
  b += matrix * n * columns;
  forEach(n, [&](int64_t i) {
    dl[i] = i + 1 < n ? below[matrix * n + i + 1] : T(0);
    d[i] = middle[matrix * n + i];
    du[i] = above[matrix * n + i];
  });
  forEach(n * columns, [&](int64_t i) { x[i] = b[i]; });
  bool isSingular = false;
  for (int64_t i = 0; i + 1 < n; ++i) {
    T pivot = d[i], under = dl[i], right = du[i], next = d[i + 1], farther = i + 2 < n ? du[i + 1] : T(0);
    bool isSwapped = !(size(pivot) >= size(under));
    T factor = isSwapped ? divided(pivot, under) : divided(under, pivot);
    isSingular |= !isSwapped && pivot == T(0);
    device_barrier(); // wait before they change
    if (device_thread() == 0) {
      d[i] = isSwapped ? under : pivot;
      d[i + 1] = isSwapped ? right - factor * next : next - factor * right;
      du[i] = isSwapped ? next : right;
      dl[i] = isSwapped ? farther : T(0);
      if (isSwapped && i + 2 < n)
        du[i + 1] = -factor * farther;
    }
    forEach(columns, [&](int64_t j) {
      T upper = x[i * columns + j], lower = x[(i + 1) * columns + j];
      x[i * columns + j] = isSwapped ? lower : upper;
      x[(i + 1) * columns + j] = isSwapped ? upper - factor * lower : lower - factor * upper;
    });
  }
  isSingular |= n > 0 && d[n - 1] == T(0);
  forEach(columns, [&](int64_t j) {
    for (int64_t i = n - 1; i >= 0; --i) {
      T value = x[i * columns + j];
      if (i + 1 < n)
        value -= du[i] * x[(i + 1) * columns + j];
      if (i + 2 < n)
        value -= dl[i] * x[(i + 2) * columns + j];
      x[i * columns + j] = isSingular ? undefined<T>() : divided(value, d[i]);
    }
  });
}

/// R of A + w wᵀ from R of A = Rᵀ R, by one Givens rotation for each row. `vector` holds the changing w.
template <typename T> DEVICE_INLINE void choleskyUpdate(const T *from, const T *w, T *to, T *vector, int64_t n) {
  from += device_block() * n * n;
  to += device_block() * n * n;
  vector += device_block() * n;
  forEach(n * n, [&](int64_t i) { to[i] = i % n < i / n ? T(0) : from[i]; });
  forEach(n, [&](int64_t i) { vector[i] = w[device_block() * n + i]; });
  for (int64_t k = 0; k < n; ++k) {
    T a = to[k * n + k], b = vector[k], scale = std::fmax(std::fabs(a), std::fabs(b));
    device_barrier(); // wait before they change
    if (b == 0 || scale == 0)
      continue;
    T x = a / scale, y = b / scale, norm = std::sqrt(x * x + y * y), c = x / norm, s = y / norm;
    forEach(n - k, [&](int64_t i) {
      T upper = to[k * n + k + i], lower = vector[k + i];
      to[k * n + k + i] = c * upper + s * lower;
      vector[k + i] = c * lower - s * upper;
    });
  }
}

} // namespace device

#define DEVICE_SOLVERS(name, T)                                                                                        \
  extern "C" void cholesky_##name(const T *from, T *to, int64_t n) { device::cholesky(from, to, n); }                  \
  extern "C" void triangular_solve_##name(const T *a, const T *b, T *x, int64_t rows, int64_t columns, int64_t count,  \
                                          int64_t isConjugated, int64_t isLeft, int64_t isLower, int64_t isTransposed, \
                                          int64_t hasUnitDiagonal) {                                                   \
    device::triangularSolve(a, b, x, rows, columns, count, isConjugated, isLeft, isLower, isTransposed,                \
                            hasUnitDiagonal);                                                                          \
  }                                                                                                                    \
  extern "C" void lu_##name(const T *from, T *to, int32_t *pivots, int32_t *permutation, int64_t m, int64_t n,         \
                            double *shared) {                                                                          \
    device::lu(from, to, pivots, permutation, m, n, shared);                                                           \
  }                                                                                                                    \
  extern "C" void linear_solve_##name(const T *factors, const int32_t *permutation, const T *b, T *x, T *scratch,      \
                                      int64_t n, int64_t columns, int64_t count, int64_t operation) {                  \
    device::linearSolve(factors, permutation, b, x, scratch, n, columns, count, operation);                            \
  }                                                                                                                    \
  extern "C" void tridiagonal_solve_##name(const T *below, const T *middle, const T *above, const T *b, T *x, T *work, \
                                           int64_t n, int64_t columns) {                                               \
    device::tridiagonalSolve(below, middle, above, b, x, work, n, columns);                                            \
  }
DEVICE_MATRICES(DEVICE_SOLVERS)
#define DEVICE_CHOLESKY_UPDATE(name, T)                                                                                \
  extern "C" void cholesky_update_##name(const T *from, const T *w, T *to, T *vector, int64_t n) {                     \
    device::choleskyUpdate(from, w, to, vector, n);                                                                    \
  }
DEVICE_CHOLESKY_UPDATE(f32, float)
DEVICE_CHOLESKY_UPDATE(f64, double)

/// One thread for each permutation.
extern "C" void lu_pivots_to_permutation(const int32_t *pivots, int32_t *permutations, int64_t count, int64_t size,
                                         int64_t matrices) {
  if (int64_t i = device::threadOfGrid(); i < matrices)
    device::applySwaps(pivots + i * count, count, permutations + i * size, size);
}

// Factorizations that solve systems, and the systems: cholesky, triangular systems, lu.
#ifndef PYCOMPILER_RUNTIME_LIB_LANES_SYSTEMS_H
#define PYCOMPILER_RUNTIME_LIB_LANES_SYSTEMS_H

#include "lanes/Vectors.h"

namespace pcrt::lanes::PCRT_LANES {

/// Overwrites the lower triangle with the factor, column by column. Returns the lanes that are not positive definite.
template <typename T> inline Mask<T> factorCholesky(Vector<T> *a, int n) {
  Mask<T> failed{};
  for (int j = 0; j < n; ++j) {
    const Vector<T> *pivots = a + j * n;
    Vector<T> square = pivots[j];
    for (int k = 0; k < j; ++k)
      square -= pivots[k] * pivots[k];
    failed |= ~(square > all<T>(0));
    Vector<T> root = rootOf<T>(square), inverse = all<T>(1) / root;
    a[j * n + j] = root;
    inFours(j + 1, n, [&](int i, auto together) {
      Vector<T> sums[together];
      for (int r = 0; r < together; ++r)
        sums[r] = a[(i + r) * n + j];
      for (int k = 0; k < j; ++k)
        for (int r = 0; r < together; ++r)
          sums[r] -= a[(i + r) * n + k] * pivots[k];
      for (int r = 0; r < together; ++r)
        a[(i + r) * n + j] = sums[r] * inverse;
    });
  }
  return failed;
}

template <typename T> void cholesky(const T *a, T *factor, int64_t count, int n) {
  Stack<T> stack(count, n * n);
  Vector<T> x[mostElements];
  forBlocks<T>(count, [&](int64_t first, int lanes) {
    stack.load(a, first, lanes, x);
    Mask<T> failed = factorCholesky<T>(x, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        x[i * n + j] = j > i ? all<T>(0) : failed ? all<T>(std::numeric_limits<T>::quiet_NaN()) : x[i * n + j];
    stack.store(x, factor, first, lanes);
  });
}

/// A matrix in vectors, or its transpose.
template <typename T> struct View {
  View(Vector<T> *base, int columns, bool isTransposed = false)
      : base(base), row(isTransposed ? 1 : columns), column(isTransposed ? columns : 1) {}
  Vector<T> &operator()(int i, int j) const { return base[i * row + j * column]; }
  Vector<T> *base;
  int row, column;
};

/// X of A X = B, in place of B with `vectors` columns. A is triangular.
template <typename T>
inline void substitute(View<T> a, bool isLower, bool hasUnitDiagonal, int n, View<T> x, int vectors) {
  for (int step = 0; step < n; ++step) {
    int i = isLower ? step : n - 1 - step, low = isLower ? 0 : i + 1, high = isLower ? i : n;
    Vector<T> inverse = hasUnitDiagonal ? all<T>(1) : all<T>(1) / a(i, i);
    inFours(0, vectors, [&](int c, auto together) {
      Vector<T> sums[together];
      for (int r = 0; r < together; ++r)
        sums[r] = x(i, c + r);
      for (int k = low; k < high; ++k)
        for (int r = 0; r < together; ++r)
          sums[r] -= a(i, k) * x(k, c + r);
      for (int r = 0; r < together; ++r)
        x(i, c + r) = sums[r] * inverse;
    });
  }
}

template <typename T>
void solveTriangular(const T *a, const T *b, T *x, int64_t count, int rows, int columns, TriangularSystem system) {
  // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
  int n = system.left ? rows : columns, vectors = system.left ? columns : rows;
  bool isTransposed = system.transposed == system.left;
  Stack<T> triangles(count, n * n), sides(count, rows * columns);
  Vector<T> triangle[mostElements], solution[mostElements];
  forBlocks<T>(count, [&](int64_t first, int lanes) {
    triangles.load(a, first, lanes, triangle);
    sides.load(b, first, lanes, solution);
    substitute<T>({triangle, n, isTransposed}, system.lower != isTransposed, system.unitDiagonal, n,
                  {solution, columns, !system.left}, vectors);
    sides.store(solution, x, first, lanes);
  });
}

/// Exchanges row k with the row that `pivot` names in each lane, in the columns [0, columns).
template <typename T> inline void swapRows(Vector<T> *a, int k, Mask<T> pivot, int rows, int columns) {
  for (int j = 0; j < columns; ++j) {
    Vector<T> old = a[k * columns + j], found = old;
    for (int i = k + 1; i < rows; ++i) {
      Mask<T> isHere = pivot == i;
      Vector<T> here = a[i * columns + j];
      a[i * columns + j] = isHere ? old : here;
      found = isHere ? here : found;
    }
    a[k * columns + j] = found;
  }
}

/// Gaussian elimination with pivots from the whole column, in place. pivots[k] is the row that took place k.
template <typename T> inline void factorLu(Vector<T> *a, Mask<T> *pivots, int rows, int columns) {
  int rank = rows < columns ? rows : columns;
  for (int k = 0; k < rank; ++k) {
    Vector<T> largest = magnitude<T>(a[k * columns + k]);
    Mask<T> pivot = Mask<T>{} + k;
    for (int i = k + 1; i < rows; ++i) {
      Vector<T> size = magnitude<T>(a[i * columns + k]);
      Mask<T> isLarger = size > largest;
      largest = isLarger ? size : largest;
      pivot = isLarger ? Mask<T>{} + i : pivot;
    }
    pivots[k] = pivot;
    if (isAny<T>(pivot != k))
      swapRows<T>(a, k, pivot, rows, columns);
    // A column of zeros stays one.
    Vector<T> divisor = a[k * columns + k];
    divisor = divisor == all<T>(0) ? all<T>(1) : divisor;
    for (int i = k + 1; i < rows; ++i) {
      Vector<T> factor = a[i * columns + k] / divisor;
      a[i * columns + k] = factor;
      for (int j = k + 1; j < columns; ++j)
        a[i * columns + j] -= factor * a[k * columns + j];
    }
  }
}

template <typename T> void lu(const T *a, T *factors, int32_t *pivots, int64_t count, int rows, int columns) {
  int rank = rows < columns ? rows : columns;
  Stack<T> stack(count, rows * columns);
  Vector<T> x[mostElements];
  Mask<T> swaps[mostRows];
  forBlocks<T>(count, [&](int64_t first, int lanes) {
    stack.load(a, first, lanes, x);
    factorLu<T>(x, swaps, rows, columns);
    stack.store(x, factors, first, lanes);
    for (int l = 0; l < lanes; ++l)
      for (int k = 0; k < rank; ++k)
        pivots[(first + l) * rank + k] = static_cast<int32_t>(swaps[k][l]);
  });
}

/// Whether each row occurs once: a permutation that is an operand may hold any numbers.
inline bool isPermutation(const int32_t *rows, int n) {
  uint32_t taken = 0;
  for (int i = 0; i < n; ++i) {
    if (rows[i] < 0 || rows[i] >= n)
      return false;
    taken |= uint32_t(1) << rows[i];
  }
  return taken == (uint32_t(1) << n) - 1;
}

template <typename T>
void solveFactored(const T *factors, const int32_t *permutation, const T *b, T *x, int64_t count, int n, int columns,
                   bool transposed) {
  Stack<T> triangles(count, n * n), sides(count, n * columns);
  Vector<T> both[mostElements], solution[mostElements], moved[mostElements];
  int32_t rows[mostLanes * mostRows];
  forBlocks<T>(count, [&](int64_t first, int lanes) {
    triangles.load(factors, first, lanes, both);
    sides.load(b, first, lanes, solution);
    Mask<T> isValid{};
    for (int l = 0; l < lanesOf<T>; ++l) {
      const int32_t *given = permutation + (first + (l < lanes ? l : lanes - 1)) * n;
      isValid[l] = isPermutation(given, n) ? -1 : 0;
      for (int i = 0; i < n; ++i)
        rows[l * n + i] = isValid[l] ? given[i] : i;
    }
    View<T> from(solution, columns), to(moved, columns), lu(both, n), transpose(both, n, true);
    auto move = [&](bool isInverse) {
      for (int i = 0; i < n; ++i)
        for (int l = 0; l < lanesOf<T>; ++l)
          for (int j = 0, row = rows[l * n + i]; j < columns; ++j)
            to(isInverse ? row : i, j)[l] = from(isInverse ? i : row, j)[l];
    };
    if (transposed) {
      substitute<T>(transpose, true, false, n, from, columns);
      substitute<T>(transpose, false, true, n, from, columns);
      move(true);
    } else {
      move(false);
      substitute<T>(lu, true, true, n, to, columns);
      substitute<T>(lu, false, false, n, to, columns);
    }
    for (int e = 0; e < n * columns; ++e)
      moved[e] = isValid ? moved[e] : all<T>(std::numeric_limits<T>::quiet_NaN());
    sides.store(moved, x, first, lanes);
  });
}

} // namespace pcrt::lanes::PCRT_LANES

#endif // PYCOMPILER_RUNTIME_LIB_LANES_SYSTEMS_H

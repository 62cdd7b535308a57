// Householder's reflectors I - tau v vᵀ, and qr by them.
#ifndef PYCOMPILER_RUNTIME_LIB_LANES_REFLECTORS_H
#define PYCOMPILER_RUNTIME_LIB_LANES_REFLECTORS_H

#include "lanes/Vectors.h"

namespace pcrt::lanes::PCRT_LANES {

/// The reflector that makes zeros of all elements of a column but the first, in LAPACK's form: v begins with 1 and
/// stands in place of the zeros, `value` is the first element of the result. x[i * stride] are the elements.
template <typename T> struct Reflector {
  Reflector(Vector<T> *x, int count, int stride) {
    Vector<T> first = x[0], largest = magnitude<T>(first);
    for (int i = 1; i < count; ++i) {
      Vector<T> size = magnitude<T>(x[i * stride]);
      largest = size > largest ? size : largest;
    }
    Scale<T> scale(largest); // squares of large and of small numbers stay in range
    Vector<T> start = first * scale.to, square{};
    for (int i = 1; i < count; ++i) {
      Vector<T> scaled = x[i * stride] * scale.to;
      square += scaled * scaled;
    }
    Mask<T> isDone = square == all<T>(0);
    Vector<T> norm = -withSign<T>(rootOf<T>(start * start + square), first);
    Vector<T> difference = start - norm;
    tau = isDone ? all<T>(0) : -difference / (isDone ? all<T>(1) : norm);
    value = isDone ? first : norm * scale.back;
    Vector<T> factor = scale.to / (isDone ? all<T>(1) : difference);
    for (int i = 1; i < count; ++i)
      x[i * stride] = isDone ? all<T>(0) : x[i * stride] * factor;
  }
  Vector<T> tau, value;
};

/// Applies a reflector to `columns` columns from `to`: element i of column j is to[i * row + j * column].
template <typename T>
inline void reflect(const Vector<T> *v, int stride, Vector<T> tau, int count, Vector<T> *to, int row, int column,
                    int columns) {
  inFours(0, columns, [&](int j, auto together) {
    Vector<T> *x = to + j * column, sums[together];
    for (int r = 0; r < together; ++r)
      sums[r] = x[r * column];
    for (int i = 1; i < count; ++i)
      for (int r = 0; r < together; ++r)
        sums[r] += v[i * stride] * x[i * row + r * column];
    for (int r = 0; r < together; ++r) {
      sums[r] *= tau;
      x[r * column] -= sums[r];
    }
    for (int i = 1; i < count; ++i)
      for (int r = 0; r < together; ++r)
        x[i * row + r * column] -= v[i * stride] * sums[r];
  });
}

template <typename T> void qr(const T *a, T *q, T *r, int64_t count, int rows, int columns, int columnsOfQ) {
  int rank = rows < columns ? rows : columns;
  Stack<T> stack(count, rows * columns), stackOfQ(count, rows * columnsOfQ), stackOfR(count, columnsOfQ * columns);
  Vector<T> x[mostElements], product[mostElements], upper[mostElements], taus[mostRows];
  forBlocks<T>(count, [&](int64_t first, int lanes) {
    stack.load(a, first, lanes, x);
    for (int k = 0; k < rank; ++k) {
      Vector<T> *corner = x + k * columns + k;
      Reflector<T> made(corner, rows - k, columns);
      taus[k] = made.tau;
      reflect<T>(corner, columns, made.tau, rows - k, corner + 1, columns, 1, columns - k - 1);
      corner[0] = made.value;
    }
    for (int i = 0; i < columnsOfQ; ++i)
      for (int j = 0; j < columns; ++j)
        upper[i * columns + j] = i <= j && i < rank ? x[i * columns + j] : all<T>(0);
    stackOfR.store(upper, r, first, lanes);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columnsOfQ; ++j)
        product[i * columnsOfQ + j] = all<T>(i == j);
    for (int k = rank - 1; k >= 0; --k)
      reflect<T>(x + k * columns + k, columns, taus[k], rows - k, product + k * columnsOfQ + k, columnsOfQ, 1,
                 columnsOfQ - k);
    stackOfQ.store(product, q, first, lanes);
  });
}

} // namespace pcrt::lanes::PCRT_LANES

#endif // PYCOMPILER_RUNTIME_LIB_LANES_REFLECTORS_H

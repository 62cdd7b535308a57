// The routines geqrf, geqp3, householder_product and ormqr, of which qr consists. Signs are LAPACK's: a diagonal
// element of R has the opposite sign of the reflected element.
#include "Reflector.h"

namespace device {

/// Moves the column of maximum norm from row k on to position k.
template <typename T>
DEVICE_INLINE void chooseColumn(T *a, int32_t *order, int64_t m, int64_t n, int64_t k, double *shared) {
  int64_t chosen = greatestOfBlock(k, n, shared, [&](int64_t j) {
    double norm = 0;
    for (int64_t i = k; i < m; ++i)
      norm += square(a[i * n + j]);
    return norm;
  });
  forEach(m, [&](int64_t i) {
    T moved = a[i * n + k];
    a[i * n + k] = a[i * n + chosen];
    a[i * n + chosen] = moved;
    if (i == 0) {
      int32_t place = order[k];
      order[k] = order[chosen];
      order[chosen] = place;
    }
  });
}

/// One block for each matrix. `order` is the order of the columns, which is chosen if `hasPivots`.
template <typename T>
DEVICE_INLINE void factor(const T *from, T *to, T *taus, int32_t *order, int64_t m, int64_t n, int64_t hasPivots,
                          double *shared) {
  int64_t rank = m < n ? m : n;
  from += device_block() * m * n;
  to += device_block() * m * n;
  taus += device_block() * rank;
  forEach(m * n, [&](int64_t i) { to[i] = from[i]; });
  if (hasPivots) {
    order += device_block() * n;
    forEach(n, [&](int64_t j) { order[j] = static_cast<int32_t>(j); });
  }
  for (int64_t k = 0; k < rank; ++k) {
    if (hasPivots)
      chooseColumn(to, order, m, n, k, shared);
    T tau = makeReflector(to + k * n + k, n, m - k, shared);
    if (device_thread() == 0)
      taus[k] = tau;
    forEach(n - k - 1, [&](int64_t j) { reflect(to + k, n, k, m, conjugate(tau), to + k + 1 + j, n); });
  }
}

/// One thread for each column of Q, [m, columns], from the reflectors in the columns of a, [m, n].
template <typename T>
DEVICE_INLINE void product(const T *a, const T *taus, T *q, int64_t m, int64_t n, int64_t columns, int64_t reflectors,
                           int64_t count) {
  int64_t number = threadOfGrid();
  if (number >= count)
    return;
  int64_t matrix = number / columns, column = number % columns;
  T *x = q + matrix * m * columns + column;
  for (int64_t i = 0; i < m; ++i)
    x[i * columns] = i == column ? T(1) : T(0);
  for (int64_t k = reflectors; k-- > 0;)
    reflect(a + matrix * m * n + k, n, k, m, taus[matrix * reflectors + k], x, columns);
}

/// One thread for each column of C, [m, n], or for each row if Q stands on the right.
template <typename T>
DEVICE_INLINE void multiply(const T *a, const T *taus, const T *c, T *result, int64_t m, int64_t n, int64_t columns,
                            int64_t reflectors, int64_t count, int64_t isLeft, int64_t isTransposed) {
  int64_t number = threadOfGrid();
  if (number >= count)
    return;
  int64_t vectors = isLeft ? n : m, size = isLeft ? m : n, step = isLeft ? n : 1;
  int64_t matrix = number / vectors, first = matrix * m * n + number % vectors * (isLeft ? 1 : n);
  for (int64_t i = 0; i < size; ++i)
    result[first + i * step] = c[first + i * step];
  // Q is the product of the reflectors in order, so the last one is applied first to a vector on the right of Q.
  bool isForward = (isLeft != 0) == (isTransposed != 0);
  for (int64_t i = 0; i < reflectors; ++i) {
    int64_t k = isForward ? i : reflectors - 1 - i;
    T tau = taus[matrix * reflectors + k], factor = isTransposed ? conjugate(tau) : tau;
    const T *v = a + matrix * size * columns + k;
    if (isLeft)
      reflect(v, columns, k, size, factor, result + first, step);
    else
      reflectRow(v, columns, k, size, factor, result + first);
  }
}

/// One thread for each element of R, [rows, n]: the upper triangle of a, [m, n].
template <typename T>
DEVICE_INLINE void upperTriangle(const T *a, T *r, int64_t m, int64_t n, int64_t rows, int64_t count) {
  int64_t number = threadOfGrid();
  if (number >= count)
    return;
  int64_t matrix = number / (rows * n), row = number / n % rows, column = number % n;
  r[number] = row <= column && row < m ? a[(matrix * m + row) * n + column] : T(0);
}

} // namespace device

#define DEVICE_REFLECTORS(name, T)                                                                                     \
  extern "C" void geqrf_##name(const T *from, T *to, T *taus, int32_t *order, int64_t m, int64_t n, int64_t hasPivots, \
                               double *shared) {                                                                       \
    device::factor(from, to, taus, order, m, n, hasPivots, shared);                                                    \
  }                                                                                                                    \
  extern "C" void householder_product_##name(const T *a, const T *taus, T *q, int64_t m, int64_t n, int64_t columns,   \
                                             int64_t reflectors, int64_t count) {                                      \
    device::product(a, taus, q, m, n, columns, reflectors, count);                                                     \
  }                                                                                                                    \
  extern "C" void ormqr_##name(const T *a, const T *taus, const T *c, T *result, int64_t m, int64_t n,                 \
                               int64_t columns, int64_t reflectors, int64_t count, int64_t isLeft,                     \
                               int64_t isTransposed) {                                                                 \
    device::multiply(a, taus, c, result, m, n, columns, reflectors, count, isLeft, isTransposed);                      \
  }                                                                                                                    \
  extern "C" void upper_triangle_##name(const T *a, T *r, int64_t m, int64_t n, int64_t rows, int64_t count) {         \
    device::upperTriangle(a, r, m, n, rows, count);                                                                    \
  }
DEVICE_MATRICES(DEVICE_REFLECTORS)

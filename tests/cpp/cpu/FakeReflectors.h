// Stand-ins for LAPACK's routines on Householder reflectors; see FakeLapack.h.
#ifndef PYCOMPILER_TESTS_CPP_CPU_FAKEREFLECTORS_H
#define PYCOMPILER_TESTS_CPP_CPU_FAKEREFLECTORS_H

#include "FakeLapack.h"

namespace fake {

/// The vector of reflector k, whose first element is 1 and not stored.
template <typename T> std::vector<T> reflector(const T *a, int lead, int rows, int k) {
  std::vector<T> v(static_cast<size_t>(rows));
  v[k] = 1;
  for (int i = k + 1; i < rows; ++i)
    v[i] = a[i + int64_t(k) * lead];
  return v;
}

/// C becomes (I - tau v vᴴ) C for the columns from `first` on.
template <typename T> void reflect(const std::vector<T> &v, T tau, T *c, int lead, int first, int columns) {
  for (int j = first; j < columns; ++j) {
    T sum = 0;
    for (size_t i = 0; i < v.size(); ++i)
      sum += conjugate(v[i]) * at(c, lead, int(i), j);
    for (size_t i = 0; i < v.size(); ++i)
      at(c, lead, int(i), j) -= tau * v[i] * sum;
  }
}

/// QR with the columns in the order of decreasing norms if `pivots` are requested.
template <typename T> void factor(int m, int n, T *a, int lead, int *pivots, T *taus) {
  auto norm = [&](int from, int j) {
    RealOf<T> sum = 0;
    for (int i = from; i < m; ++i)
      sum += std::norm(at(a, lead, i, j));
    return std::sqrt(sum);
  };
  for (int j = 0; pivots && j < n; ++j)
    pivots[j] = j + 1;
  for (int k = 0; k < std::min(m, n); ++k) {
    int best = k;
    for (int j = k + 1; pivots && j < n; ++j)
      if (norm(k, j) > norm(k, best))
        best = j;
    if (best != k) {
      std::swap(pivots[k], pivots[best]);
      for (int i = 0; i < m; ++i)
        std::swap(at(a, lead, i, k), at(a, lead, i, best));
    }
    T alpha = at(a, lead, k, k);
    RealOf<T> beta = std::real(alpha) > 0 ? -norm(k, k) : norm(k, k);
    taus[k] = beta == 0 ? T(0) : (T(beta) - alpha) / T(beta);
    if (taus[k] == T(0))
      continue;
    for (int i = k + 1; i < m; ++i)
      at(a, lead, i, k) /= alpha - T(beta);
    at(a, lead, k, k) = beta;
    reflect(reflector(a, lead, m, k), conjugate(taus[k]), a, lead, k + 1, n);
  }
}

template <typename T>
void geqrf(const int *m, const int *n, T *a, const int *lead, T *taus, T *work, const int *length, int *info) {
  demand(*lead >= std::max(1, *m));
  *info = 0;
  if (!isQuery(work, *length, 3 * *n + 2))
    factor(*m, *n, a, *lead, nullptr, taus);
}

template <typename T>
void geqp3Real(const int *m, const int *n, T *a, const int *lead, int *pivots, T *taus, T *work, const int *length,
               int *info) {
  *info = 0;
  for (int j = 0; j < *n && *length != -1; ++j)
    demand(pivots[j] == 0); // a free column
  if (!isQuery(work, *length, 3 * *n + 1))
    factor(*m, *n, a, *lead, pivots, taus);
}

template <typename T>
void geqp3Complex(const int *m, const int *n, T *a, const int *lead, int *pivots, T *taus, T *work, const int *length,
                  RealOf<T> *real, int *info) {
  pcrt::lapack::fillNan(real, 2 * *n);
  geqp3Real(m, n, a, lead, pivots, taus, work, length, info);
}

template <typename T>
void orgqr(const int *m, const int *n, const int *k, T *a, const int *lead, const T *taus, T *work, const int *length,
           int *info) {
  demand(*n <= *m && *k <= *n && *lead >= std::max(1, *m));
  *info = 0;
  if (isQuery(work, *length, 2 * *n + 1))
    return;
  std::vector<T> q(size_t(*m) * size_t(*n));
  for (int i = 0; i < *n; ++i)
    at(q.data(), *m, i, i) = 1;
  for (int i = *k - 1; i >= 0; --i)
    reflect(reflector(a, *lead, *m, i), taus[i], q.data(), *m, 0, *n);
  for (int j = 0; j < *n; ++j)
    std::copy_n(&at(q.data(), *m, 0, j), *m, &at(a, *lead, 0, j));
}

template <typename T>
void ormqr(const char *side, const char *op, const int *m, const int *n, const int *k, const T *a, const int *lead,
           const T *taus, T *c, const int *leadC, T *work, const int *length, int *info) {
  bool left = *side == 'L', none = *op == 'N';
  int size = left ? *m : *n;
  demand((none || *op == (isComplex<T> ? 'C' : 'T')) && *lead >= std::max(1, size) && *k <= size);
  *info = 0;
  if (isQuery(work, *length, *m + *n + 1))
    return;
  // C Q is (Qᴴ Cᴴ)ᴴ.
  int columns = left ? *n : *m;
  std::vector<T> x(size_t(size) * size_t(columns));
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < columns; ++j)
      at(x.data(), size, i, j) = left ? at(c, *leadC, i, j) : conjugate(at(c, *leadC, j, i));
  bool fromLast = none == left;
  for (int step = 0; step < *k; ++step) {
    int i = fromLast ? *k - 1 - step : step;
    reflect(reflector(a, *lead, size, i), fromLast ? taus[i] : conjugate(taus[i]), x.data(), size, 0, columns);
  }
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < columns; ++j)
      (left ? at(c, *leadC, i, j) : at(c, *leadC, j, i)) =
          left ? at(x.data(), size, i, j) : conjugate(at(x.data(), size, i, j));
}

/// For fillTable: the routines of this file.
template <typename T> struct Orthogonal {
  static void *find(std::string_view name) {
    if (name == "geqp3") {
      if constexpr (isComplex<T>)
        return pointer(geqp3Complex<T>);
      else
        return pointer(geqp3Real<T>);
    }
    return name == "geqrf"                      ? pointer(geqrf<T>)
           : name == "orgqr" || name == "ungqr" ? pointer(orgqr<T>)
           : name == "ormqr" || name == "unmqr" ? pointer(ormqr<T>)
                                                : nullptr;
  }
};

} // namespace fake

#endif // PYCOMPILER_TESTS_CPP_CPU_FAKEREFLECTORS_H

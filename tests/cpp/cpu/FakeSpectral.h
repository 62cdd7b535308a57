// Stand-ins for LAPACK's routines for eigenvalues, singular values and Schur forms; see FakeLapack.h. They compute
// almost nothing: elements show their origin.
//
// A matrix whose first element is 13 does not converge. The returned vectors hold 10 i + j (+ 100 for the second of two
// matrices) at (i, j).
#ifndef PYCOMPILER_TESTS_CPP_CPU_FAKESPECTRAL_H
#define PYCOMPILER_TESTS_CPP_CPU_FAKESPECTRAL_H

#include "FakeLapack.h"

namespace fake {

using pcrt::lapack::fillNan;

template <typename T> bool fails(const T *a) { return a[0] == T(13); }

template <typename T> void pattern(T *a, int rows, int columns, int lead, int more = 0) {
  demand(lead >= std::max(1, rows));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      at(a, lead, i, j) = RealOf<T>(10 * i + j + more);
}

/// w is the corner of the requested half, then the diagonal.
template <typename T>
void syevd(const char *job, const char *half, const int *n, T *a, const int *lead, RealOf<T> *w, T *work,
           const int *length, int *integers, const int *integerLength, int *info) {
  *info = 0;
  if (isQuery(work, *length, 5 * *n + 1)) {
    demand(*integerLength == -1);
    *integers = 3 * *n;
    return;
  }
  demand(*integerLength >= 3 * *n);
  std::fill_n(integers, *integerLength, -1);
  *info = fails(a);
  for (int i = 0; i < *n; ++i)
    w[i] = std::real(at(a, *lead, i, i));
  w[0] = std::real(*half == 'L' ? at(a, *lead, *n - 1, 0) : at(a, *lead, 0, *n - 1));
  if (*job == 'V')
    pattern(a, *n, *n, *lead);
}

template <typename T>
void heevd(const char *job, const char *half, const int *n, T *a, const int *lead, RealOf<T> *w, T *work,
           const int *length, RealOf<T> *real, const int *realLength, int *integers, const int *integerLength,
           int *info) {
  isQuery(real, *realLength, 2 * *n + 7);
  syevd(job, half, n, a, lead, w, work, length, integers, integerLength, info);
}

/// The diagonal; a conjugate pair if there is an element below it.
template <typename T>
void geevReal(const char *jobLeft, const char *jobRight, const int *n, T *a, const int *lead, T *re, T *im, T *left,
              const int *leadLeft, T *right, const int *leadRight, T *work, const int *length, int *info) {
  *info = 0;
  if (isQuery(work, *length, 4 * *n))
    return;
  *info = fails(a);
  for (int i = 0; i < *n; ++i) {
    re[i] = at(a, *lead, i, i);
    im[i] = *info                                          ? 1 // as of a shift that was tried last
            : i + 1 < *n && at(a, *lead, i + 1, i) != T(0) ? 1
            : i > 0 && at(a, *lead, i, i - 1) != T(0)      ? -1
                                                           : 0;
  }
  if (*jobLeft == 'V')
    pattern(left, *n, *n, *leadLeft, 100);
  if (*jobRight == 'V')
    pattern(right, *n, *n, *leadRight);
}

template <typename T>
void geevComplex(const char *jobLeft, const char *jobRight, const int *n, T *a, const int *lead, T *w, T *left,
                 const int *leadLeft, T *right, const int *leadRight, T *work, const int *length, RealOf<T> *real,
                 int *info) {
  *info = 0;
  if (isQuery(work, *length, 4 * *n))
    return;
  fillNan(real, 2 * *n);
  *info = fails(a);
  for (int i = 0; i < *n; ++i)
    w[i] = at(a, *lead, i, i);
  if (*jobLeft == 'V')
    pattern(left, *n, *n, *leadLeft, 100);
  if (*jobRight == 'V')
    pattern(right, *n, *n, *leadRight);
}

/// s counts down to 1, from 1000 more for gesvd.
template <typename T>
void decompose(char job, int m, int n, const T *a, RealOf<T> *s, T *u, int leadU, T *vt, int leadV, int more,
               int *info) {
  int k = std::min(m, n);
  *info = fails(a);
  for (int i = 0; i < k; ++i)
    s[i] = RealOf<T>(k - i + more);
  if (job != 'N') {
    pattern(u, m, job == 'A' ? m : k, leadU);
    pattern(vt, job == 'A' ? n : k, n, leadV, 100);
  }
}

template <typename T>
void gesddReal(const char *job, const int *m, const int *n, T *a, const int *, RealOf<T> *s, T *u, const int *leadU,
               T *vt, const int *leadV, T *work, const int *length, int *integers, int *info) {
  *info = 0;
  if (isQuery(work, *length, 7 * *m + *n))
    return;
  std::fill_n(integers, 8 * std::min(*m, *n), -1);
  decompose(*job, *m, *n, a, s, u, *leadU, vt, *leadV, 0, info);
}

template <typename T>
void gesddComplex(const char *job, const int *m, const int *n, T *a, const int *lead, RealOf<T> *s, T *u,
                  const int *leadU, T *vt, const int *leadV, T *work, const int *length, RealOf<T> *real, int *integers,
                  int *info) {
  int k = std::min(*m, *n), great = std::max(*m, *n);
  if (*length != -1) // as documented, also for versions before 3.6
    fillNan(real, *job == 'N' ? 7 * k : std::max(5 * k * k + 5 * k, 2 * great * k + 2 * k * k + k));
  gesddReal(job, m, n, a, lead, s, u, leadU, vt, leadV, work, length, integers, info);
}

template <typename T>
void gesvdReal(const char *job, const char *jobV, const int *m, const int *n, T *a, const int *, RealOf<T> *s, T *u,
               const int *leadU, T *vt, const int *leadV, T *work, const int *length, int *info) {
  demand(*job == *jobV);
  *info = 0;
  if (!isQuery(work, *length, 3 * *m + *n))
    decompose(*job, *m, *n, a, s, u, *leadU, vt, *leadV, 1000, info);
}

template <typename T>
void gesvdComplex(const char *job, const char *jobV, const int *m, const int *n, T *a, const int *lead, RealOf<T> *s,
                  T *u, const int *leadU, T *vt, const int *leadV, T *work, const int *length, RealOf<T> *real,
                  int *info) {
  if (*length != -1)
    fillNan(real, 5 * std::min(*m, *n));
  gesvdReal(job, jobV, m, n, a, lead, s, u, leadU, vt, leadV, work, length, info);
}

/// A matrix that is triangular by a basis of signs: Z = diag(1, i, 1, i, ...) or (1, -1, ...), so T = Zᴴ A Z.
template <typename T> T sign(int i) {
  if constexpr (isComplex<T>)
    return i % 2 ? T(0, 1) : T(1);
  else
    return i % 2 ? T(-1) : T(1);
}

template <typename T>
void geesComplex(const char *job, const char *sort, int *select, const int *n, T *a, const int *lead, int *, T *w, T *z,
                 const int *, T *work, const int *length, RealOf<T> *real, int *, int *info) {
  demand(*sort == 'N' && !select);
  *info = 0;
  if (isQuery(work, *length, 3 * *n))
    return;
  if (isComplex<T>)
    fillNan(real, *n);
  *info = fails(a);
  fillNan(w, *n);
  for (int i = 0; i < *n; ++i)
    for (int j = 0; j < *n; ++j) {
      at(a, *lead, i, j) *= pcrt::lapack::conjugate(sign<T>(i)) * sign<T>(j);
      if (*job == 'V')
        at(z, *n, i, j) = i == j ? sign<T>(i) : T(0);
    }
}

template <typename T>
void geesReal(const char *job, const char *sort, int *select, const int *n, T *a, const int *lead, int *count, T *re,
              T *im, T *z, const int *leadZ, T *work, const int *length, int *flags, int *info) {
  if (*length != -1)
    fillNan(im, *n);
  geesComplex<T>(job, sort, select, n, a, lead, count, re, z, leadZ, work, length, nullptr, flags, info);
}

/// A X + X B = C / 2 for upper triangles.
template <typename T>
void trsyl(const char *opA, const char *opB, const int *signum, const int *m, const int *n, const T *a,
           const int *leadA, const T *b, const int *leadB, T *c, const int *leadC, RealOf<T> *scale, int *info) {
  demand(*opA == 'N' && *opB == 'N' && *signum == 1);
  *scale = RealOf<T>(0.5);
  *info = 0;
  for (int j = 0; j < *n; ++j)
    for (int i = *m - 1; i >= 0; --i) {
      T sum = at(c, *leadC, i, j) * *scale, divisor = at(a, *leadA, i, i) + at(b, *leadB, j, j);
      for (int k = i + 1; k < *m; ++k)
        sum -= at(a, *leadA, i, k) * at(c, *leadC, k, j);
      for (int k = 0; k < j; ++k)
        sum -= at(c, *leadC, i, k) * at(b, *leadB, k, j);
      *info |= divisor == T(0);
      at(c, *leadC, i, j) = sum / (divisor == T(0) ? T(1) : divisor);
    }
}

template <typename T> struct Spectral {
  static void *find(std::string_view name) {
    if (name == "trsyl" || name == "gemm")
      return name == "trsyl" ? pointer(trsyl<T>) : pointer(gemm<T>);
    if constexpr (isComplex<T>)
      return name == "heevd"   ? pointer(heevd<T>)
             : name == "geev"  ? pointer(geevComplex<T>)
             : name == "gesdd" ? pointer(gesddComplex<T>)
             : name == "gesvd" ? pointer(gesvdComplex<T>)
             : name == "gees"  ? pointer(geesComplex<T>)
                               : nullptr;
    else
      return name == "syevd"   ? pointer(syevd<T>)
             : name == "geev"  ? pointer(geevReal<T>)
             : name == "gesdd" ? pointer(gesddReal<T>)
             : name == "gesvd" ? pointer(gesvdReal<T>)
             : name == "gees"  ? pointer(geesReal<T>)
                               : nullptr;
  }
};

} // namespace fake

#endif // PYCOMPILER_TESTS_CPP_CPU_FAKESPECTRAL_H

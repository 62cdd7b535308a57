// Stand-ins for the entry points of LAPACK and BLAS, so that the library routines over them are tested without linking
// LAPACK: textbook algorithms without blocking, with LAPACK's arguments. Like LAPACK, they write to their whole
// workspace.
#ifndef PYCOMPILER_TESTS_CPP_CPU_FAKELAPACK_H
#define PYCOMPILER_TESTS_CPP_CPU_FAKELAPACK_H

#include "cpu/Lapack.h"

#include <atomic>
#include <string_view>

namespace fake {

using pcrt::lapack::conjugate;
using pcrt::lapack::isComplex;
using pcrt::lapack::RealOf;

/// The number of calls that broke a rule of LAPACK: a workspace smaller than required, or a leading dimension smaller
/// than the rows.
inline std::atomic<int> brokenRules{0};
inline void demand(bool holds) {
  if (!holds)
    ++brokenRules;
}

/// An element of a column-major matrix.
template <typename T> T &at(T *a, int lead, int i, int j) { return a[i + int64_t(j) * lead]; }

/// True for a query, which it answers; otherwise checks and overwrites the workspace.
template <typename T> bool isQuery(T *work, int length, int wanted) {
  if (length == -1) {
    *work = T(RealOf<T>(wanted));
    return true;
  }
  demand(length >= wanted);
  pcrt::lapack::fillNan(work, length);
  return false;
}

//===-- Products and triangular systems
//-----------------------------------------------------------------------------------===//

template <typename T> T operated(char op, const T *a, int lead, int i, int j) {
  return op == 'N'   ? a[i + int64_t(j) * lead]
         : op == 'T' ? a[j + int64_t(i) * lead]
                     : conjugate(a[j + int64_t(i) * lead]);
}

template <typename T>
void gemm(const char *opA, const char *opB, const int *m, const int *n, const int *k, const T *alpha, const T *a,
          const int *leadA, const T *b, const int *leadB, const T *beta, T *c, const int *leadC) {
  demand(*leadA >= std::max(1, *opA == 'N' ? *m : *k) && *leadB >= std::max(1, *opB == 'N' ? *k : *n));
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) {
      T sum = 0;
      for (int l = 0; l < *k; ++l)
        sum += operated(*opA, a, *leadA, i, l) * operated(*opB, b, *leadB, l, j);
      T &element = at(c, *leadC, i, j);
      element = *alpha * sum + (*beta == T(0) ? T(0) : *beta * element);
    }
}

template <typename T>
void trsm(const char *side, const char *half, const char *op, const char *diagonal, const int *m, const int *n,
          const T *alpha, const T *a, const int *leadA, T *b, const int *leadB) {
  bool left = *side == 'L', isLower = (*half == 'L') == (*op == 'N');
  int size = left ? *m : *n, others = left ? *n : *m;
  demand(*leadA >= std::max(1, size) && *leadB >= std::max(1, *m));
  bool fromStart = isLower == left;
  for (int other = 0; other < others; ++other) {
    auto x = [&](int i) -> T & { return left ? at(b, *leadB, i, other) : at(b, *leadB, other, i); };
    for (int step = 0; step < size; ++step) {
      int i = fromStart ? step : size - 1 - step;
      T sum = *alpha * x(i);
      for (int before = 0; before < step; ++before) {
        int j = fromStart ? before : size - 1 - before;
        sum -= (left ? operated(*op, a, *leadA, i, j) : operated(*op, a, *leadA, j, i)) * x(j);
      }
      x(i) = *diagonal == 'U' ? sum : sum / operated(*op, a, *leadA, i, i);
    }
  }
}

//===-- Factorizations that solve systems
//---------------------------------------------------------------------------------===//

template <typename T> void potrf(const char *half, const int *n, T *a, const int *lead, int *info) {
  demand(*half == 'U' && *lead >= std::max(1, *n));
  *info = 0;
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i <= j; ++i) {
      T sum = at(a, *lead, i, j);
      for (int k = 0; k < i; ++k)
        sum -= conjugate(at(a, *lead, k, i)) * at(a, *lead, k, j);
      if (i == j && !(std::real(sum) > 0)) {
        *info = j + 1;
        return;
      }
      at(a, *lead, i, j) = i == j ? std::sqrt(sum) : sum / at(a, *lead, i, i);
    }
}

template <typename T> void getrf(const int *m, const int *n, T *a, const int *lead, int *pivots, int *info) {
  demand(*lead >= std::max(1, *m));
  *info = 0;
  for (int k = 0; k < std::min(*m, *n); ++k) {
    int best = k;
    for (int i = k + 1; i < *m; ++i)
      if (std::abs(at(a, *lead, i, k)) > std::abs(at(a, *lead, best, k)))
        best = i;
    pivots[k] = best + 1;
    for (int j = 0; j < *n; ++j)
      std::swap(at(a, *lead, k, j), at(a, *lead, best, j));
    if (at(a, *lead, k, k) == T(0)) {
      *info = *info ? *info : k + 1;
      continue;
    }
    for (int i = k + 1; i < *m; ++i) {
      T factor = at(a, *lead, i, k) /= at(a, *lead, k, k);
      for (int j = k + 1; j < *n; ++j)
        at(a, *lead, i, j) -= factor * at(a, *lead, k, j);
    }
  }
}

template <typename T>
void getrs(const char *op, const int *n, const int *columns, const T *a, const int *lead, const int *pivots, T *b,
           const int *leadB, int *info) {
  demand(*op == 'N');
  *info = 0;
  for (int k = 0; k < *n; ++k)
    for (int j = 0; j < *columns; ++j)
      std::swap(at(b, *leadB, k, j), at(b, *leadB, pivots[k] - 1, j));
  T one = 1;
  trsm("L", "L", "N", "U", n, columns, &one, a, lead, b, leadB);
  trsm("L", "U", "N", "N", n, columns, &one, a, lead, b, leadB);
}

/// Without pivoting: for tests with dominant diagonals.
template <typename T>
void gtsv(const int *n, const int *columns, T *below, T *middle, T *above, T *b, const int *lead, int *info) {
  demand(*lead >= std::max(1, *n));
  *info = 0;
  for (int i = 0; i < *n; ++i) {
    if (middle[i] == T(0)) {
      *info = i + 1;
      return;
    }
    if (i + 1 == *n)
      break;
    T factor = below[i] / middle[i];
    below[i] = factor;
    middle[i + 1] -= factor * above[i];
    for (int j = 0; j < *columns; ++j)
      at(b, *lead, i + 1, j) -= factor * at(b, *lead, i, j);
  }
  for (int j = 0; j < *columns; ++j)
    for (int i = *n - 1; i >= 0; --i)
      at(b, *lead, i, j) = (at(b, *lead, i, j) - (i + 1 < *n ? above[i] * at(b, *lead, i + 1, j) : T(0))) / middle[i];
}

//===-- The table
//---------------------------------------------------------------------------------------------------------===//

template <typename Function> void *pointer(Function *function) { return reinterpret_cast<void *>(function); }

/// Fills the table from Source<T>::find(name), for each element type; names have no type letter, and null stands for
/// routines that are not called.
template <template <typename> typename Source> void fillTable() {
  std::vector<void *> entries;
  for (std::string_view name : pcrt::lapack::names()) {
    std::string_view rest = name.substr(1);
    entries.push_back(name[0] == 's'   ? Source<float>::find(rest)
                      : name[0] == 'd' ? Source<double>::find(rest)
                      : name[0] == 'c' ? Source<std::complex<float>>::find(rest)
                                       : Source<std::complex<double>>::find(rest));
  }
  pcrt::lapack::fill(entries);
}

template <typename T>
void trsv(const char *half, const char *op, const char *diagonal, const int *n, const T *a, const int *lead, T *x,
          const int *step) {
  demand(*step == 1);
  int one = 1;
  T factor = 1;
  trsm("L", half, op, diagonal, n, &one, &factor, a, lead, x, n);
}

/// For fillTable: the routines of this file.
template <typename T> struct Solving {
  static void *find(std::string_view name) {
    return name == "gemm"    ? pointer(gemm<T>)
           : name == "trsm"  ? pointer(trsm<T>)
           : name == "trsv"  ? pointer(trsv<T>)
           : name == "potrf" ? pointer(potrf<T>)
           : name == "getrf" ? pointer(getrf<T>)
           : name == "getrs" ? pointer(getrs<T>)
           : name == "gtsv"  ? pointer(gtsv<T>)
                             : nullptr;
  }
};

} // namespace fake

#endif // PYCOMPILER_TESTS_CPP_CPU_FAKELAPACK_H

// Factorizations that solve systems: cholesky, lu and their relatives. See Abi.h for parameters.
#include "Lapack.h"

#include <numeric>

using namespace pcrt;
using namespace pcrt::lapack;

/// A row-major matrix is the transpose of a column-major one, so the upper factor of one is the lower factor of the
/// other.
template <typename T> static void choleskyOf(T *a, int n) {
  for (int i = 0; i < n; ++i)
    std::fill(a + int64_t(i) * n + i + 1, a + int64_t(i + 1) * n, T());
  int info = 0, lead = leading(n);
  call<T>(Routine::potrf, "U", &n, a, &lead, &info);
  if (info != 0)
    for (int i = 0; i < n; ++i)
      fillNan(a + int64_t(i) * n, i + 1);
}

static int32_t choleskyWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                             const int64_t *) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    Stack from(in[0], 2), to(out[0], 2);
    if constexpr (!isComplex<T>)
      if (int n = columnsOf(in[0]); isInLanes(in[0], n, n))
        return lanes::smallMatrices<T>().cholesky(from.at<T>(0), to.at<T>(0), from.count, n);
    for (int64_t i = 0; i < from.count && from.size; ++i) {
      std::copy_n(from.at<T>(i), from.size, to.at<T>(i));
      choleskyOf(to.at<T>(i), columnsOf(in[0]));
    }
  });
}

int32_t library::cholesky(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                          int32_t outCount, const int64_t *params) {
  return overMatrices(choleskyWhole, 2, 4, frame, in, inCount, out, outCount, params);
}

/// Solves op(A) X = B, or X op(A) = B, in place of B; all row-major. op: 'N', 'T' or 'C'. trsm packs A, which takes
/// most of the time for one column or row.
template <typename T>
static void solveTriangular(bool left, bool lower, char op, bool unit, const T *a, int size, T *b, int rows,
                            int columns) {
  char side = left ? 'R' : 'L', half = lower ? 'U' : 'L', diagonal = unit ? 'U' : 'N';
  // LAPACK sees the transpose of A, whose conjugate alone it does not apply to a vector.
  bool isVector = (left ? columns : rows) == 1, isConjugated = isComplex<T> && op == 'C';
  if (isVector && !isConjugated) {
    char turned = (op == 'N') == left ? 'T' : 'N';
    int lead = leading(size), step = 1;
    return call<T>(Routine::trsv, &half, &turned, &diagonal, &size, a, &lead, b, &step);
  }
  T one = 1;
  int leadA = leading(size), leadB = leading(columns);
  call<T>(Routine::trsm, &side, &half, &op, &diagonal, &columns, &rows, &one, a, &leadA, b, &leadB);
}

static int32_t triangularSolveWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                                    int32_t, const int64_t *params) {
  bool conjugated = params[0], left = params[1], lower = params[2], transposed = params[3], unit = params[4];
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    Stack a(in[0], 2), b(in[1], 2), x(out[0], 2);
    if constexpr (!isComplex<T>)
      if (int rows = rowsOf(in[1]), columns = columnsOf(in[1]); isInLanes(in[0], rows, columns))
        return lanes::smallMatrices<T>().solveTriangular(a.at<T>(0), b.at<T>(0), x.at<T>(0), x.count, rows, columns,
                                                         {left, lower, transposed, unit});
    std::vector<T> copy(conjugated && !transposed ? a.size : 0);
    for (int64_t i = 0; i < x.count && x.size; ++i) {
      const T *factor = a.at<T>(i);
      if (!copy.empty()) {
        std::transform(factor, factor + a.size, copy.begin(), conjugate<T>);
        factor = copy.data();
      }
      std::copy_n(b.at<T>(i), b.size, x.at<T>(i));
      char op = !transposed ? 'N' : conjugated ? 'C' : 'T';
      solveTriangular(left, lower, op, unit, factor, columnsOf(in[0]), x.at<T>(i), rowsOf(in[1]), columnsOf(in[1]));
    }
  });
}

int32_t library::triangular_solve(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                                  int32_t outCount, const int64_t *params) {
  return overMatrices(triangularSolveWhole, 2, 4, frame, in, inCount, out, outCount, params);
}

static void applySwaps(const int32_t *pivots, int64_t count, int32_t *permutation, int64_t size) {
  std::iota(permutation, permutation + size, 0);
  for (int64_t i = 0; i < count; ++i)
    if (pivots[i] >= 0 && pivots[i] < size && i < size)
      std::swap(permutation[i], permutation[pivots[i]]);
}

static int32_t luWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out, int32_t,
                       const int64_t *) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int m = rowsOf(in[0]), n = columnsOf(in[0]), lead = leading(m), info = 0;
    Stack from(in[0], 2), to(out[0], 2), pivots(out[1], 1), permutations(out[2], 1);
    if constexpr (!isComplex<T>)
      if (isInLanes(in[0], m, n)) {
        lanes::smallMatrices<T>().lu(from.at<T>(0), to.at<T>(0), pivots.at<int32_t>(0), from.count, m, n);
        for (int64_t i = 0; i < from.count; ++i)
          applySwaps(pivots.at<int32_t>(i), pivots.size, permutations.at<int32_t>(i), m);
        return;
      }
    std::vector<T> a(from.size);
    for (int64_t i = 0; i < from.count; ++i) {
      int32_t *swaps = pivots.at<int32_t>(i);
      if (from.size) {
        transpose(from.at<T>(i), m, n, a.data());
        call<T>(Routine::getrf, &m, &n, a.data(), &lead, swaps, &info);
        transpose(a.data(), n, m, to.at<T>(i));
        for (int64_t k = 0; k < pivots.size; ++k)
          --swaps[k];
      }
      applySwaps(swaps, pivots.size, permutations.at<int32_t>(i), m);
    }
  });
}

int32_t library::lu(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                    int32_t outCount, const int64_t *params) {
  return overMatrices(luWhole, 2, 8, frame, in, inCount, out, outCount, params);
}

int32_t library::lu_pivots_to_permutation(const PcrtFrame *, const PcrtTensor *in, int32_t, const PcrtTensor *out,
                                          int32_t, const int64_t *) {
  Stack pivots(in[0], 1), permutations(out[0], 1);
  for (int64_t i = 0; i < permutations.count; ++i)
    applySwaps(pivots.at<int32_t>(i), pivots.size, permutations.at<int32_t>(i), permutations.size);
  return PCRT_OK;
}

/// Whether each row occurs once: a permutation that is an operand may hold any numbers.
static bool isPermutation(const int32_t *rows, int n) {
  std::vector<bool> taken(n);
  for (int i = 0; i < n; ++i) {
    if (rows[i] < 0 || rows[i] >= n || taken[rows[i]])
      return false;
    taken[rows[i]] = true;
  }
  return true;
}

/// From the factors P A = L U and the permutation: op(A) X = B; nan if that is not a permutation. op: 0 none, 1
/// transpose, 2 conjugate transpose.
template <typename T>
static void solveByFactors(const T *lu, const int32_t *permutation, int n, const T *b, int columns, int64_t op,
                           std::vector<T> &scratch, T *x) {
  auto row = [&](T *base, int64_t i) { return base + i * columns; };
  if (!isPermutation(permutation, n)) {
    fillNan(x, int64_t(n) * columns);
    return;
  }
  if (op == 0) {
    for (int i = 0; i < n; ++i)
      std::copy_n(b + int64_t(permutation[i]) * columns, columns, row(x, i));
    solveTriangular(true, true, 'N', true, lu, n, x, n, columns);
    solveTriangular(true, false, 'N', false, lu, n, x, n, columns);
    return;
  }
  char letter = op == 1 ? 'T' : 'C';
  scratch.assign(b, b + int64_t(n) * columns);
  solveTriangular(true, false, letter, false, lu, n, scratch.data(), n, columns);
  solveTriangular(true, true, letter, true, lu, n, scratch.data(), n, columns);
  for (int i = 0; i < n; ++i)
    std::copy_n(row(scratch.data(), i), columns, row(x, permutation[i]));
}

static int32_t linearSolveWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                                int32_t, const int64_t *params) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    // in[0], the matrix itself, is only for the derivative.
    Stack lu(in[1], 2), permutation(in[2], 1), b(in[3], 2), x(out[0], 2);
    if constexpr (!isComplex<T>)
      if (int n = rowsOf(in[1]), columns = columnsOf(in[3]); isInLanes(in[1], n, columns))
        return lanes::smallMatrices<T>().solveFactored(lu.at<T>(0), permutation.at<int32_t>(0), b.at<T>(0), x.at<T>(0),
                                                       x.count, n, columns, params[0] != 0);
    std::vector<T> scratch;
    for (int64_t i = 0; i < x.count && x.size; ++i)
      solveByFactors(lu.at<T>(i), permutation.at<int32_t>(i), rowsOf(in[1]), b.at<T>(i), columnsOf(in[3]), params[0],
                     scratch, x.at<T>(i));
  });
}

int32_t library::linear_solve(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                              int32_t outCount, const int64_t *params) {
  return overMatrices(linearSolveWhole, 2, 4, frame, in, inCount, out, outCount, params);
}

static int32_t tridiagonalSolveWhole(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                                     int32_t, const int64_t *) {
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    int n = rowsOf(in[3]), columns = columnsOf(in[3]), lead = leading(n), info = 0;
    Stack below(in[0], 1), middle(in[1], 1), above(in[2], 1), b(in[3], 2), x(out[0], 2);
    std::vector<T> dl, d, du, solution(b.size);
    for (int64_t i = 0; i < x.count && x.size; ++i) {
      dl.assign(below.at<T>(i) + 1, below.at<T>(i) + n); // dl[0] and du[n - 1] are not used
      d.assign(middle.at<T>(i), middle.at<T>(i) + n);
      du.assign(above.at<T>(i), above.at<T>(i) + n);
      transpose(b.at<T>(i), n, columns, solution.data());
      call<T>(Routine::gtsv, &n, &columns, dl.data(), d.data(), du.data(), solution.data(), &lead, &info);
      transpose(solution.data(), columns, n, x.at<T>(i));
      if (info != 0)
        fillNan(x.at<T>(i), x.size);
    }
  });
}

int32_t library::tridiagonal_solve(const PcrtFrame *frame, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                                   int32_t outCount, const int64_t *params) {
  return overMatrices(tridiagonalSolveWhole, 1, 20, frame, in, inCount, out, outCount, params);
}

/// R of A + w wᵀ from R of A = Rᵀ R, by one Givens rotation for each row (Golub and Van Loan, section 6.5.4).
template <typename T> static void updateCholesky(T *r, T *w, int n) {
  for (int k = 0; k < n; ++k) {
    T *row = r + int64_t(k) * n;
    std::fill_n(row, k, T());
    T scale = std::max(std::abs(row[k]), std::abs(w[k]));
    if (w[k] == T(0) || scale == T(0))
      continue;
    T x = row[k] / scale, y = w[k] / scale, norm = std::sqrt(x * x + y * y), c = x / norm, s = y / norm;
    for (int j = k; j < n; ++j) {
      T upper = row[j], lower = w[j];
      row[j] = c * upper + s * lower;
      w[j] = c * lower - s * upper;
    }
  }
}

int32_t library::cholesky_update(const PcrtFrame *, const PcrtTensor *in, int32_t inCount, const PcrtTensor *out,
                                 int32_t, const int64_t *) {
  if (in[0].dtype == PCRT_DTYPE_Complex64 || in[0].dtype == PCRT_DTYPE_Complex128)
    return PCRT_INVALID_ARGUMENT;
  return dispatch(in, inCount, in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!isComplex<T>) {
      Stack r(in[0], 2), w(in[1], 1), to(out[0], 2);
      std::vector<T> vector;
      for (int64_t i = 0; i < r.count && r.size; ++i) {
        vector.assign(w.at<T>(i), w.at<T>(i) + w.size);
        std::copy_n(r.at<T>(i), r.size, to.at<T>(i));
        updateCholesky(to.at<T>(i), vector.data(), columnsOf(in[0]));
      }
    }
  });
}

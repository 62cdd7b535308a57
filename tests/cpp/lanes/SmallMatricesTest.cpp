// Small matrices in lanes, by the code of every instruction set that this machine has: the equations that results
// fulfill, for all sizes, for stacks that fill no vector, with elements around them that must not be written.
#include "Check.h"
#include "lanes/Tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace pcrt::lanes;

namespace {

/// Stacks of matrices with a margin that no routine may write.
template <typename T> struct Stack {
  Stack(int count, int rows, int columns) : rows(rows), columns(columns), values(size_t(count) * rows * columns + 64) {
    std::fill(values.begin(), values.end(), T(7));
  }
  T *data() { return values.data() + 32; }
  T &at(int i, int r, int c) { return data()[(i * rows + r) * columns + c]; }
  bool isMarginWhole() const {
    auto isSeven = [](T x) { return x == T(7); };
    return std::all_of(values.begin(), values.begin() + 32, isSeven) &&
           std::all_of(values.end() - 32, values.end(), isSeven);
  }
  int rows, columns;
  std::vector<T> values;
};

template <typename T> Stack<T> drawn(int count, int rows, int columns, unsigned seed) {
  Stack<T> x(count, rows, columns);
  unsigned state = seed * 2654435761u + 12345;
  for (int i = 0; i < count * rows * columns; ++i) {
    state = state * 1664525u + 1013904223u;
    x.data()[i] = T(double(state >> 8) / (1 << 23) - 1);
  }
  return x;
}

/// A Aᵀ with a larger diagonal.
template <typename T> Stack<T> positive(int count, int n) {
  Stack<T> a = drawn<T>(count, n, n, unsigned(n)), x(count, n, n);
  for (int i = 0; i < count; ++i)
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        T sum = r == c ? T(n) : T(0);
        for (int k = 0; k < n; ++k)
          sum += a.at(i, r, k) * a.at(i, c, k);
        x.at(i, r, c) = sum;
      }
  return x;
}

template <typename T> bool isNear(double a, double b, double size) {
  return std::fabs(a - b) <= 64 * size * double(std::numeric_limits<T>::epsilon());
}

constexpr int counts[] = {1, 5, 16, 35};

template <typename T> struct Checks {
  const SmallMatrices<T> &routines;

  void cholesky(int count, int n) {
    Stack<T> a = positive<T>(count, n), l(count, n, n);
    bool isSpoiled = count > 1;
    if (isSpoiled)
      a.at(1, n - 1, n - 1) = T(-1);
    routines.cholesky(a.data(), l.data(), count, n);
    CHECK(l.isMarginWhole());
    for (int i = 0; i < count; ++i)
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
          double sum = 0;
          for (int k = 0; k <= std::min(r, c); ++k)
            sum += double(l.at(i, r, k)) * double(l.at(i, c, k));
          if (c > r)
            CHECK(l.at(i, r, c) == 0);
          else if (isSpoiled && i == 1)
            CHECK(std::isnan(l.at(i, r, c)));
          else
            CHECK(isNear<T>(sum, a.at(i, r, c), 4 * n));
        }
  }

  void triangular(int count, int n, int vectors) {
    Stack<T> a = positive<T>(count, n);
    for (int form = 0; form < 16; ++form) {
      TriangularSystem system = {(form & 1) != 0, (form & 2) != 0, (form & 4) != 0, (form & 8) != 0};
      int rows = system.left ? n : vectors, columns = system.left ? vectors : n;
      Stack<T> b = drawn<T>(count, rows, columns, 3), x(count, rows, columns);
      routines.solveTriangular(a.data(), b.data(), x.data(), count, rows, columns, system);
      CHECK(x.isMarginWhole());
      auto element = [&](int i, int r, int c) -> double { // of op(A)
        if (system.transposed)
          std::swap(r, c);
        if (r == c && system.unitDiagonal)
          return 1;
        return (system.lower ? c <= r : c >= r) ? double(a.at(i, r, c)) : 0;
      };
      for (int i = 0; i < count; ++i)
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < columns; ++c) {
            double sum = 0, size = 0;
            for (int k = 0; k < n; ++k) {
              double term =
                  system.left ? element(i, r, k) * double(x.at(i, k, c)) : double(x.at(i, r, k)) * element(i, k, c);
              sum += term;
              size += std::fabs(term);
            }
            CHECK(isNear<T>(sum, b.at(i, r, c), size + 1));
          }
    }
  }

  void lu(int count, int m, int n) {
    int rank = std::min(m, n);
    Stack<T> a = drawn<T>(count, m, n, 5), f(count, m, n);
    for (int r = 0; r < m; ++r)
      a.at(0, r, 0) = 0; // a singular matrix has no nan
    Stack<int32_t> pivots(count, rank, 1);
    routines.lu(a.data(), f.data(), pivots.data(), count, m, n);
    CHECK(f.isMarginWhole() && pivots.isMarginWhole());
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < rank; ++k)
        for (int c = 0, other = pivots.at(i, k, 0); c < n; ++c)
          std::swap(a.at(i, k, c), a.at(i, other, c));
      for (int r = 0; r < m; ++r)
        for (int c = 0; c < n; ++c) {
          double sum = 0;
          for (int k = 0; k <= std::min(r, c) && k < rank; ++k)
            sum += (k == r ? 1 : double(f.at(i, r, k))) * double(f.at(i, k, c));
          CHECK(isNear<T>(sum, a.at(i, r, c), 4 * n));
          CHECK(c >= r || std::fabs(f.at(i, r, c)) <= 1);
        }
    }
  }

  void factored(int count, int n, int columns) {
    Stack<T> a = positive<T>(count, n), f(count, n, n), b = drawn<T>(count, n, columns, 7), x(count, n, columns);
    for (int i = 0; i < count; ++i) // the largest elements are not on the diagonal
      for (int c = 0; c < n; ++c)
        std::swap(a.at(i, 0, c), a.at(i, n - 1, c));
    Stack<int32_t> pivots(count, n, 1), rows(count, n, 1);
    routines.lu(a.data(), f.data(), pivots.data(), count, n, n);
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < n; ++k)
        rows.at(i, k, 0) = k;
      for (int k = 0; k < n; ++k)
        std::swap(rows.at(i, k, 0), rows.at(i, pivots.at(i, k, 0), 0));
    }
    bool isSpoiled = count > 1;
    if (isSpoiled)
      rows.at(1, 0, 0) = n;
    for (bool transposed : {false, true}) {
      routines.solveFactored(f.data(), rows.data(), b.data(), x.data(), count, n, columns, transposed);
      CHECK(x.isMarginWhole());
      for (int i = 0; i < count; ++i)
        for (int r = 0; r < n; ++r)
          for (int c = 0; c < columns; ++c) {
            double sum = 0, size = 0;
            for (int k = 0; k < n; ++k) {
              double term = double(transposed ? a.at(i, k, r) : a.at(i, r, k)) * double(x.at(i, k, c));
              sum += term;
              size += std::fabs(term);
            }
            CHECK(isSpoiled && i == 1 ? std::isnan(x.at(i, r, c)) : isNear<T>(sum, b.at(i, r, c), size + 1));
          }
    }
  }

  void symmetric(int count, int n, T scale) {
    Stack<T> a = drawn<T>(count, n, n, 9), w(count, n, 1), v(count, n, n), alone(count, n, 1);
    for (int i = 0; i < count * n * n; ++i)
      a.data()[i] *= scale;
    for (int r = 0; count > 5 && r < n; ++r) {
      for (int c = 0; c < n; ++c)
        a.at(4, r, c) = T(r == c ? (r % 3) * scale : 0); // equal eigenvalues
      a.at(1, r, 0) = std::numeric_limits<T>::quiet_NaN();
      a.at(2, 0, r) = std::numeric_limits<T>::infinity();
    }
    for (bool lower : {false, true}) {
      routines.symmetric(a.data(), w.data(), v.data(), count, n, lower);
      routines.symmetric(a.data(), alone.data(), nullptr, count, n, lower);
      CHECK(w.isMarginWhole() && v.isMarginWhole() && alone.isMarginWhole());
      for (int i = 0; i < count; ++i) {
        if (count > 5 && (i == 1 || i == 2)) {
          CHECK(std::isnan(w.at(i, 0, 0)) && std::isnan(v.at(i, n - 1, n - 1)) && std::isnan(alone.at(i, n - 1, 0)));
          continue;
        }
        for (int c = 0; c < n; ++c) {
          CHECK(c == 0 || w.at(i, c - 1, 0) <= w.at(i, c, 0));
          CHECK(isNear<T>(w.at(i, c, 0), alone.at(i, c, 0), n * scale));
          for (int r = 0; r < n; ++r) {
            double left = 0, product = 0;
            for (int k = 0; k < n; ++k) {
              double element = (lower ? k <= r : k >= r) ? a.at(i, r, k) : a.at(i, k, r);
              left += element * double(v.at(i, k, c));
              product += double(v.at(i, k, r)) * double(v.at(i, k, c));
            }
            CHECK(isNear<T>(left, double(w.at(i, c, 0)) * double(v.at(i, r, c)), n * scale));
            CHECK(isNear<T>(product, r == c, n));
          }
        }
      }
    }
  }

  void qr(int count, int m, int n, int k, T scale) {
    Stack<T> a = drawn<T>(count, m, n, 11), q(count, m, k), r(count, k, n);
    for (int i = 0; i < count * m * n; ++i)
      a.data()[i] *= scale;
    for (int row = 0; row < m; ++row)
      a.at(0, row, 0) = 0;
    routines.qr(a.data(), q.data(), r.data(), count, m, n, k);
    CHECK(q.isMarginWhole() && r.isMarginWhole());
    for (int i = 0; i < count; ++i) {
      for (int row = 0; row < m; ++row)
        for (int c = 0; c < n; ++c) {
          double sum = 0;
          for (int l = 0; l < k; ++l)
            sum += double(q.at(i, row, l)) * double(r.at(i, l, c));
          CHECK(isNear<T>(sum, a.at(i, row, c), m * scale));
          CHECK(row <= c || row >= k || r.at(i, row, c) == 0);
        }
      for (int c = 0; c < k; ++c)
        for (int d = 0; d < k; ++d) {
          double sum = 0;
          for (int row = 0; row < m; ++row)
            sum += double(q.at(i, row, c)) * double(q.at(i, row, d));
          CHECK(isNear<T>(sum, c == d, m));
        }
    }
  }

  void all() {
    // Squares of these scales are not finite numbers, or zero.
    constexpr T large = sizeof(T) == 4 ? T(1e30) : T(1e250), small = sizeof(T) == 4 ? T(1e-30) : T(1e-250);
    for (int count : counts)
      for (int n = 1; n <= mostRows; n += n < 5 ? 1 : 3) {
        int other = 1 + (n * 5 + count) % mostRows;
        cholesky(count, n);
        triangular(count, n, other);
        lu(count, n, other);
        factored(count, n, other);
        for (T scale : {T(1), large, small}) {
          symmetric(count, n, scale);
          qr(count, n, other, std::min(n, other), scale);
          qr(count, n, other, n, scale);
        }
      }
  }
};

void check(const Tables &tables) {
  Checks<float>{tables.ofFloat}.all();
  Checks<double>{tables.ofDouble}.all();
}

void baseline() { check(tablesBaseline); }

void chosen() {
  Checks<float>{smallMatrices<float>()}.all();
  Checks<double>{smallMatrices<double>()}.all();
}

#ifdef __x86_64__
void avx2() {
  if (__builtin_cpu_supports("x86-64-v3"))
    check(tablesAvx2);
}
void avx512() {
  if (__builtin_cpu_supports("x86-64-v4"))
    check(tablesAvx512);
}
#endif

} // namespace

int main() {
  RUN(baseline);
  RUN(chosen);
#ifdef __x86_64__
  RUN(avx2);
  RUN(avx512);
#endif
  return test::failures() != 0;
}

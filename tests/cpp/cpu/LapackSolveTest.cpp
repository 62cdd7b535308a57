// The library routines that solve systems, over stand-ins for LAPACK: their results, the passing of row-major stacks to
// column-major routines, and their failures before the table is filled.
#include "Check.h"
#include "FakeLapack.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

using namespace test;
using pcrt::lapack::RealOf;

static const PcrtTable &table = pcrt::libraryTable();

template <typename T> static const double tolerance = sizeof(RealOf<T>) == 4 ? 1e-4 : 1e-12;

/// Elements that do not repeat for long, also in their imaginary parts if any; `dominant` is added to the diagonal.
template <typename T> static Operand<T> matrices(Dims dims, unsigned seed, double dominant = 0) {
  Operand<T> x(dims);
  auto n = static_cast<size_t>(dims.back());
  for (size_t i = 0; i < x.values.size(); ++i) {
    auto draw = [&](size_t salt) {
      return RealOf<T>(static_cast<double>((i * 37 + seed * 101 + salt * 53) % 97) / 48 - 1);
    };
    if constexpr (pcrt::lapack::isComplex<T>)
      x.values[i] = {draw(0), draw(1)};
    else
      x.values[i] = draw(0);
    size_t row = dims.size() > 1 ? i / n % static_cast<size_t>(dims[dims.size() - 2]) : 0;
    if (row == i % n)
      x.values[i] += RealOf<T>(dominant);
  }
  return x;
}

template <typename T> static double distance(const std::vector<T> &a, const std::vector<T> &b) {
  double greatest = a.size() == b.size() ? 0 : 1e300;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    greatest = std::max(greatest, std::abs(a[i] - b[i]) >= 0 ? double(std::abs(a[i] - b[i])) : 1e300);
  return greatest;
}

/// C = A B for row-major matrices.
template <typename T> static std::vector<T> product(const T *a, const T *b, int64_t m, int64_t k, int64_t n) {
  std::vector<T> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        c[static_cast<size_t>(i * n + j)] += a[i * k + l] * b[l * n + j];
  return c;
}

static void tableMissing() {
  Operand<double> x({2, 2}), y({2, 2});
  std::vector<PcrtTensor> inputs(4, x), outputs(4, y);
  std::vector<int64_t> params(8, 1);
  CHECK(!pcrt::lapack::isFilled());
#define CHECK_CALL(name)                                                                                               \
  if (table.name != table.lu_pivots_to_permutation)                                                                    \
    CHECK(call(table.name, inputs, outputs, params) == PCRT_LIBRARY_FAILED);
  PCRT_LINEAR_ALGEBRA_CALLS(CHECK_CALL)
  CHECK(y.values == std::vector<double>(4, 7));
  pcrt::lapack::fill(std::vector<void *>(pcrt::lapack::names().size() - 1)); // not all of them
  CHECK(!pcrt::lapack::isFilled() && call(table.cholesky, {x}, {y}) == PCRT_LIBRARY_FAILED);
  CHECK(pcrt::lapack::names()[0] == "sgemm" && pcrt::lapack::names()[3] == "zgemm");
  fake::fillTable<fake::Solving>();
  CHECK(pcrt::lapack::isFilled());
}

static void cholesky() {
  // Only the lower halves are read.
  Operand<double> a({2, 2, 2}, {4, 99, 2, 5, 1, 99, 3, 4}), l(a.dims);
  CHECK(call(table.cholesky, {a}, {l}) == PCRT_OK);
  CHECK((std::vector<double>(l.values.begin(), l.values.begin() + 4) == std::vector<double>{2, 0, 1, 2}));
  CHECK(l.values[4] != l.values[4] && l.values[5] == 0 && l.values[6] != l.values[6]); // not positive definite
  using Complex = std::complex<float>;
  Operand<Complex> h({2, 2}, {4, 99, {0, 2}, 5}), f(h.dims);
  CHECK(call(table.cholesky, {h}, {f}) == PCRT_OK);
  CHECK(distance(f.values, {2, 0, {0, 1}, 2}) < 1e-6);
  Operand<Complex> indefinite({2, 2}, {1, 99, {0, 2}, 1}), none(h.dims);
  CHECK(call(table.cholesky, {indefinite}, {none}) == PCRT_OK);
  CHECK(none.values[0] != none.values[0] && none.values[1] == Complex() && none.values[2] != none.values[2] &&
        none.values[3] != none.values[3]);
}

template <typename T> static void checkTriangularSolve() {
  constexpr int64_t count = 2, m = 3, n = 2;
  for (int bits = 0; bits < 32; ++bits) {
    bool conjugated = bits & 1, left = bits & 2, lower = bits & 4, transposed = bits & 8, unit = bits & 16;
    int64_t size = left ? m : n;
    Operand<T> a = matrices<T>({count, size, size}, 1, 4), b = matrices<T>({count, m, n}, 2), x(b.dims);
    CHECK(call(table.triangular_solve, {a, b}, {x}, {conjugated, left, lower, transposed, unit}) == PCRT_OK);
    for (int64_t k = 0; k < count; ++k) {
      std::vector<T> op(static_cast<size_t>(size * size));
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j) {
          T element = i == j && unit ? T(1) : a.values[static_cast<size_t>((k * size + i) * size + j)];
          if (i == j || (i > j) == lower)
            op[static_cast<size_t>(transposed ? j * size + i : i * size + j)] =
                conjugated ? pcrt::lapack::conjugate(element) : element;
        }
      const T *solution = x.values.data() + k * m * n;
      std::vector<T> back = left ? product(op.data(), solution, m, m, n) : product(solution, op.data(), m, n, n);
      auto first = b.values.begin() + k * m * n;
      CHECK(distance(back, std::vector<T>(first, first + m * n)) < tolerance<T>);
    }
  }
}

template <typename T> static void checkLu() {
  for (Dims dims : {Dims{2, 3, 3}, Dims{2, 4, 2}, Dims{2, 2, 5}, Dims{1, 1, 1}}) {
    int64_t m = dims[1], n = dims[2], k = std::min(m, n);
    Operand<T> a = matrices<T>(dims, 3), lu(dims);
    Operand<int32_t> pivots({dims[0], k}), permutation({dims[0], m}), again({dims[0], m});
    CHECK(call(table.lu, {a}, {lu, pivots, permutation}) == PCRT_OK);
    CHECK(call(table.lu_pivots_to_permutation, {pivots}, {again}) == PCRT_OK);
    CHECK(again.values == permutation.values);
    for (int64_t at = 0; at < dims[0]; ++at) {
      const T *packed = lu.values.data() + at * m * n;
      std::vector<T> l(static_cast<size_t>(m * k)), u(static_cast<size_t>(k * n)), permuted;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          if (j < k && i >= j)
            l[static_cast<size_t>(i * k + j)] = i == j ? T(1) : packed[i * n + j];
          if (i <= j && i < k)
            u[static_cast<size_t>(i * n + j)] = packed[i * n + j];
          permuted.push_back(
              a.values[static_cast<size_t>((at * m + permutation.values[static_cast<size_t>(at * m + i)]) * n + j)]);
        }
      CHECK(distance(product(l.data(), u.data(), m, k, n), permuted) < tolerance<T>);
    }
  }
}

static void luOfSingular() {
  Operand<double> a({2, 2}, {1, 2, 2, 4}), lu(a.dims);
  Operand<int32_t> pivots({2}), permutation({2});
  CHECK(call(table.lu, {a}, {lu, pivots, permutation}) == PCRT_OK);
  CHECK((lu.values == std::vector<double>{2, 4, 0.5, 0}) && (permutation.values == std::vector<int32_t>{1, 0}));
  Operand<int32_t> swaps({2, 2}, {2, 9, -1, 1}), order({2, 3}); // pivots outside the matrix swap nothing
  CHECK(call(table.lu_pivots_to_permutation, {swaps}, {order}) == PCRT_OK);
  CHECK((order.values == std::vector<int32_t>{2, 1, 0, 0, 1, 2}));
}

template <typename T> static void checkLinearSolve() {
  constexpr int64_t count = 2, n = 4, columns = 3;
  Operand<T> a = matrices<T>({count, n, n}, 5), b = matrices<T>({count, n, columns}, 6), lu(a.dims), x(b.dims);
  Operand<int32_t> pivots({count, n}), permutation({count, n});
  REQUIRE(call(table.lu, {a}, {lu, pivots, permutation}) == PCRT_OK);
  for (int64_t op : {0, 1, 2}) {
    CHECK(call(table.linear_solve, {a, lu, permutation, b}, {x}, {op}) == PCRT_OK);
    for (int64_t k = 0; k < count; ++k) {
      std::vector<T> matrix(n * n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          T element = a.values[static_cast<size_t>((k * n + i) * n + j)];
          matrix[static_cast<size_t>(op ? j * n + i : i * n + j)] =
              op == 2 ? pcrt::lapack::conjugate(element) : element;
        }
      auto first = b.values.begin() + k * n * columns;
      CHECK(distance(product(matrix.data(), x.values.data() + k * n * columns, n, n, columns),
                     std::vector<T>(first, first + n * columns)) < 100 * tolerance<T>);
    }
  }
}

/// A permutation that is an operand may hold any numbers: those that are none give nan, in that matrix alone.
template <typename T> static void checkNoPermutation(int64_t n) {
  Operand<T> lu({4, n, n}), b({4, n, 1}), x(b.dims);
  Operand<int32_t> permutation({4, n});
  for (int64_t k = 0; k < 4; ++k)
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j)
        lu.values[static_cast<size_t>((k * n + i) * n + j)] = T(i == j);
      b.values[static_cast<size_t>(k * n + i)] = T(static_cast<float>(i));
      permutation.values[static_cast<size_t>(k * n + i)] = static_cast<int32_t>(n - 1 - i);
    }
  permutation.values[0] = 0; // twice
  permutation.values[static_cast<size_t>(n + 1)] = -1;
  permutation.values[static_cast<size_t>(2 * n + 1)] = static_cast<int32_t>(n);
  for (int64_t op : {0, 1, 2}) {
    CHECK(call(table.linear_solve, {lu, lu, permutation, b}, {x}, {op}) == PCRT_OK);
    for (int64_t i = 0; i < 4 * n; ++i) {
      T got = x.values[static_cast<size_t>(i)];
      CHECK(i < 3 * n ? got != got : got == T(static_cast<float>(n - 1 - i % n)));
    }
  }
}

static void anythingForAPermutation() {
  for (int64_t n : {3, 20}) {
    checkNoPermutation<float>(n);
    checkNoPermutation<std::complex<double>>(n);
  }
}

template <typename T> static void checkType() {
  checkTriangularSolve<T>();
  checkLu<T>();
  checkLinearSolve<T>();
}

static void allTypes() {
  checkType<float>();
  checkType<double>();
  checkType<std::complex<float>>();
  checkType<std::complex<double>>();
}

static void tridiagonalSolve() {
  // Twice [[4, 1, 0], [1, 4, 1], [0, 2, 4]] for the columns (1, 2, 3) and (1, 0, -1); unused elements are nan.
  constexpr double nan = notANumber;
  Operand<double> below({2, 3}, {nan, 1, 2, nan, 1, 2}), middle({2, 3}, {4, 4, 4, 0, 4, 4}),
      above({2, 3}, {1, 1, nan, 1, 1, nan}), b({2, 3, 2}, {6, 4, 12, 0, 16, -4, 6, 4, 12, 0, 16, -4}), x(b.dims);
  CHECK(call(table.tridiagonal_solve, {below, middle, above, b}, {x}) == PCRT_OK);
  CHECK(distance({x.values.begin(), x.values.begin() + 6}, std::vector<double>{1, 1, 2, 0, 3, -1}) < 1e-14);
  CHECK(x.values[6] != x.values[6] && x.values[11] != x.values[11]); // LAPACK found no solution
  Operand<float> none({1}, {0}), one({1}, {4}), right({1, 2}, {8, 2}), solution(right.dims);
  CHECK(call(table.tridiagonal_solve, {none, one, none, right}, {solution}) == PCRT_OK);
  CHECK((solution.values == std::vector<float>{2, 0.5}));
}

static void choleskyUpdate() {
  // R = [[2, 1], [0, 2]] and w = (1, 3): RᵀR + wwᵀ = [[5, 5], [5, 14]].
  Operand<double> r({2, 2}, {2, 1, 99, 2}), w({2}, {1, 3}), out({2, 2});
  CHECK(call(table.cholesky_update, {r, w}, {out}) == PCRT_OK);
  double root = std::sqrt(5.0);
  CHECK(distance(out.values, {root, root, 0, 3}) < 1e-15 && w.values[1] == 3);
  Operand<std::complex<double>> z({2, 2}), v({2}), complexOut({2, 2});
  CHECK(call(table.cholesky_update, {z, v}, {complexOut}) == PCRT_INVALID_ARGUMENT);
}

static void emptyAndRefused() {
  for (Dims dims : {Dims{0, 0}, Dims{0, 2, 2}, Dims{2, 0, 0}}) {
    Operand<double> a(dims), out(dims);
    Dims vector(dims.begin(), dims.end() - 1);
    Operand<double> diagonal(vector);
    Operand<int32_t> pivots(vector), permutation(vector);
    CHECK(call(table.cholesky, {a}, {out}) == PCRT_OK);
    CHECK(call(table.triangular_solve, {a, a}, {out}, {0, 1, 1, 0, 0}) == PCRT_OK);
    CHECK(call(table.lu, {a}, {out, pivots, permutation}) == PCRT_OK);
    CHECK(call(table.linear_solve, {a, a, permutation, a}, {out}, {1}) == PCRT_OK);
    CHECK(call(table.tridiagonal_solve, {diagonal, diagonal, diagonal, a}, {out}) == PCRT_OK);
    CHECK(call(table.cholesky_update, {a, diagonal}, {out}) == PCRT_OK);
  }
  Operand<float> tall({3, 0}), packed({3, 0}); // without columns nothing is swapped
  Operand<int32_t> pivots({0}), permutation({3});
  CHECK(call(table.lu, {tall}, {packed, pivots, permutation}) == PCRT_OK);
  CHECK((permutation.values == std::vector<int32_t>{0, 1, 2}));
  Operand<int32_t> integers({2, 2});
  CHECK(call(table.cholesky, {integers}, {integers}) == PCRT_INVALID_ARGUMENT);
  Operand<float> nothing({0, int64_t(1) << 31}); // more than LAPACK's integers count
  CHECK(call(table.cholesky, {nothing}, {nothing}) == PCRT_INVALID_ARGUMENT);
}

static void manyThreads() {
  using T = std::complex<double>;
  Operand<T> a = matrices<T>({5, 6, 6}, 7), b = matrices<T>({5, 6, 2}, 8);
  auto solve = [&] {
    Operand<T> lu(a.dims), x(b.dims);
    Operand<int32_t> pivots({5, 6}), permutation({5, 6});
    CHECK(call(table.lu, {a}, {lu, pivots, permutation}) == PCRT_OK);
    CHECK(call(table.linear_solve, {a, lu, permutation, b}, {x}, {2}) == PCRT_OK);
    return x.values;
  };
  std::vector<T> expected = solve();
  CHECK(holdsConcurrently([&](int thread) {
    if (thread == 0) // as when a second module finds LAPACK
      fake::fillTable<fake::Solving>();
    return solve() == expected;
  }));
}

int main() {
  RUN(tableMissing);
  RUN(cholesky);
  RUN(allTypes);
  RUN(anythingForAPermutation);
  RUN(luOfSingular);
  RUN(tridiagonalSolve);
  RUN(choleskyUpdate);
  RUN(emptyAndRefused);
  RUN(manyThreads);
  CHECK(fake::brokenRules == 0);
  return test::failures() != 0;
}

// The library routines over Householder reflectors, over stand-ins for LAPACK: factors multiply back to the matrix. For
// the reductions, whose stand-ins compute nothing, every element arrives at its position.
#include "Check.h"
#include "FakeReflectors.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

using namespace test;
using pcrt::lapack::conjugate;
using pcrt::lapack::RealOf;

static const PcrtTable &table = pcrt::libraryTable();

//===-- Stand-ins that compute nothing
//------------------------------------------------------------------------------------===//

/// Adds 100 i + j to the element (i, j).
template <typename T> void mark(T *a, int n, int lead) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      fake::at(a, lead, i, j) += RealOf<T>(100 * i + j);
}

template <typename T>
void gehrd(const int *n, const int *low, const int *high, T *a, const int *lead, T *taus, T *work, const int *length,
           int *info) {
  fake::demand(*low == 1 && *high == *n && *lead == *n);
  *info = 0;
  if (fake::isQuery(work, *length, 3 * *n))
    return;
  mark(a, *n, *lead);
  for (int i = 0; i + 1 < *n; ++i)
    taus[i] = RealOf<T>(i + 1);
}

template <typename T>
void sytrd(const char *half, const int *n, T *a, const int *lead, RealOf<T> *d, RealOf<T> *e, T *taus, T *work,
           const int *length, int *info) {
  fake::demand(*lead == *n);
  *info = 0;
  if (fake::isQuery(work, *length, 4 * *n))
    return;
  for (int i = 0; i < *n; ++i)
    d[i] = std::real(fake::at(a, *lead, i, i));
  for (int i = 0; i + 1 < *n; ++i) {
    e[i] = std::real(*half == 'L' ? fake::at(a, *lead, i + 1, i) : fake::at(a, *lead, i, i + 1));
    taus[i] = RealOf<T>(i + 1);
  }
  mark(a, *n, *lead);
}

template <typename T> struct Routines {
  static void *find(std::string_view name) {
    return name == "gehrd"                      ? fake::pointer(gehrd<T>)
           : name == "sytrd" || name == "hetrd" ? fake::pointer(sytrd<T>)
                                                : fake::Orthogonal<T>::find(name);
  }
};

//===-- Matrices
//----------------------------------------------------------------------------------------------------------===//

/// A row-major matrix of a stack.
template <typename T> struct Matrix {
  int64_t rows, columns;
  std::vector<T> values;
  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(size_t(rows * columns)) {}
  Matrix(const Operand<T> &stack, int64_t index)
      : rows(stack.dims[stack.dims.size() - 2]), columns(stack.dims.back()),
        values(stack.values.begin() + index * rows * columns, stack.values.begin() + (index + 1) * rows * columns) {}
  T &at(int64_t i, int64_t j) { return values[size_t(i * columns + j)]; }
  T at(int64_t i, int64_t j) const { return values[size_t(i * columns + j)]; }
};

template <typename T> static Matrix<T> operator*(const Matrix<T> &a, const Matrix<T> &b) {
  Matrix<T> c(a.rows, b.columns);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j)
      for (int64_t k = 0; k < a.columns; ++k)
        c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

template <typename T> static Matrix<T> adjoint(const Matrix<T> &a) {
  Matrix<T> b(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      b.at(j, i) = conjugate(a.at(i, j));
  return b;
}

template <typename T> static bool near(const Matrix<T> &a, const Matrix<T> &b) {
  double tolerance = sizeof(RealOf<T>) == 4 ? 1e-5 : 1e-13;
  for (size_t i = 0; i < a.values.size() && i < b.values.size(); ++i)
    if (!(std::abs(a.values[i] - b.values[i]) < tolerance))
      return false;
  return a.rows == b.rows && a.columns == b.columns;
}

template <typename T> static Matrix<T> identity(int64_t n) {
  Matrix<T> eye(n, n);
  pcrt::lapack::identity(eye.values.data(), n, n);
  return eye;
}

template <typename T> static Operand<T> stackOf(Dims dims, size_t seed) {
  Operand<T> x(std::move(dims));
  for (size_t i = 0; i < x.values.size(); ++i) {
    auto draw = [&](size_t salt) {
      return RealOf<T>(static_cast<double>((i * 37 + seed * 29 + salt * 53) % 97) / 48 - 1);
    };
    if constexpr (pcrt::lapack::isComplex<T>)
      x.values[i] = {draw(0), draw(1)};
    else
      x.values[i] = draw(0);
  }
  return x;
}

//===-- Tests
//-------------------------------------------------------------------------------------------------------------===//

template <typename T> static void checkQr(int64_t m, int64_t n, bool full, bool pivoting) {
  int64_t k = full ? m : std::min(m, n);
  Operand<T> a = stackOf<T>({2, m, n}, 1), q({2, m, k}), r({2, k, n});
  Operand<int32_t> p({2, n});
  std::vector<PcrtTensor> outputs = {q, r};
  if (pivoting)
    outputs.push_back(p);
  CHECK(call(table.qr, {a}, outputs, {full, pivoting}) == PCRT_OK);
  for (int64_t index = 0; index < 2; ++index) {
    Matrix<T> source(a, index), left(q, index), right(r, index), permuted(m, n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        permuted.at(i, j) = source.at(i, pivoting ? p.values[size_t(index * n + j)] : j);
    CHECK(near(left * right, permuted) && near(adjoint(left) * left, identity<T>(k)));
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < std::min(i, n); ++j)
        CHECK(right.at(i, j) == T(0));
    for (int64_t i = 1; pivoting && i < std::min(m, n); ++i)
      CHECK(std::abs(right.at(i, i)) <= std::abs(right.at(i - 1, i - 1)));
  }
}

/// Q as geqrf's reflectors: multiplied out, and applied to other matrices from both sides.
template <typename T> static void checkReflectors() {
  constexpr int64_t m = 4, n = 3;
  for (bool pivoting : {false, true}) {
    Operand<T> a = stackOf<T>({2, m, n}, 2), packed(a.dims), taus({2, n}), q({2, m, n});
    Operand<int32_t> pivots({2, n});
    if (pivoting)
      CHECK(call(table.geqp3, {a}, {packed, taus, pivots}) == PCRT_OK);
    else
      CHECK(call(table.geqrf, {a}, {packed, taus}) == PCRT_OK);
    CHECK(call(table.householder_product, {packed, taus}, {q}) == PCRT_OK);
    for (int64_t index = 0; index < 2; ++index) {
      Matrix<T> source(a, index), left(q, index), r(packed, index), upper(n, n), permuted(m, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i; j < n; ++j)
          upper.at(i, j) = r.at(i, j);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          permuted.at(i, j) = source.at(i, pivoting ? pivots.values[size_t(index * n + j)] : j);
      CHECK(near(left * upper, permuted));
    }
  }
  // Fewer reflectors than columns; the whole Q for ormqr.
  Operand<T> square = stackOf<T>({2, m, m}, 3), packed(square.dims), taus({2, m}), q(square.dims);
  CHECK(call(table.geqrf, {square}, {packed, taus}) == PCRT_OK);
  Operand<T> some({2, 2}, {taus.values[0], taus.values[1], taus.values[m], taus.values[m + 1]});
  CHECK(call(table.householder_product, {packed, some}, {q}) == PCRT_OK);
  for (bool left : {false, true})
    for (bool transposed : {false, true}) {
      Operand<T> c = stackOf<T>(left ? Dims{2, m, 2} : Dims{2, 3, m}, 4), result(c.dims);
      CHECK(call(table.ormqr, {packed, some, c}, {result}, {left, transposed}) == PCRT_OK);
      for (int64_t index = 0; index < 2; ++index) {
        Matrix<T> factor(q, index), other(c, index);
        if (transposed)
          factor = adjoint(factor);
        CHECK(near(Matrix<T>(result, index), left ? factor * other : other * factor));
      }
    }
}

template <typename T> static void checkReductions() {
  for (int64_t n : {1, 3}) {
    Operand<T> a = stackOf<T>({2, n, n}, 5), out(a.dims), taus({2, n - 1});
    auto arrived = [&] {
      for (int64_t i = 0; i < 2 * n * n; ++i)
        if (out.values[size_t(i)] != a.values[size_t(i)] + RealOf<T>(100 * (i / n % n) + i % n))
          return false;
      for (int64_t i = 0; i < 2 * (n - 1); ++i)
        if (taus.values[size_t(i)] != RealOf<T>(i % (n - 1) + 1))
          return false;
      return true;
    };
    CHECK(call(table.hessenberg, {a}, {out, taus}) == PCRT_OK && arrived());
    for (bool lower : {false, true}) {
      Operand<RealOf<T>> d({2, n}), e({2, n - 1});
      CHECK(call(table.tridiagonal, {a}, {out, d, e, taus}, {lower}) == PCRT_OK && arrived());
      for (int64_t index = 0; index < 2; ++index)
        for (int64_t i = 0; i < n; ++i) {
          Matrix<T> source(a, index);
          CHECK(d.values[size_t(index * n + i)] == std::real(source.at(i, i)));
          if (i + 1 < n)
            CHECK(e.values[size_t(index * (n - 1) + i)] ==
                  std::real(lower ? source.at(i + 1, i) : source.at(i, i + 1)));
        }
    }
  }
}

template <typename T> static void checkType() {
  for (auto [m, n] : {std::pair(4, 3), std::pair(3, 5), std::pair(3, 3), std::pair(1, 1), std::pair(20, 17)})
    for (bool full : {false, true})
      for (bool pivoting : {false, true})
        checkQr<T>(m, n, full, pivoting);
  checkReflectors<T>();
  checkReductions<T>();
}

static void singlePrecision() { checkType<float>(); }
static void doublePrecision() { checkType<double>(); }
static void complexNumbers() { checkType<std::complex<float>>(), checkType<std::complex<double>>(); }

/// For a matrix without elements Q is an identity.
static void emptyAndRefused() {
  Operand<double> tall({1, 3, 0}), q({1, 3, 3}), r({1, 3, 0});
  CHECK(call(table.qr, {tall}, {q, r}, {true, false}) == PCRT_OK && q.values == identity<double>(3).values);
  Operand<double> wide({2, 0, 2}), none({2, 0, 0}), alsoNone({2, 0, 2});
  Operand<int32_t> order({2, 2});
  CHECK(call(table.qr, {wide}, {none, alsoNone, order}, {false, true}) == PCRT_OK);
  CHECK((order.values == std::vector<int32_t>{0, 1, 0, 1}));
  Operand<double> packed({2, 0, 2}), wideTaus({2, 0});
  Operand<int32_t> pivots({2, 2});
  CHECK(call(table.geqp3, {wide}, {packed, wideTaus, pivots}) == PCRT_OK);
  CHECK((pivots.values == std::vector<int32_t>{0, 1, 0, 1}));
  Operand<double> square({2, 0, 0}), vectors({2, 0}), noTaus({2, 0});
  CHECK(call(table.geqrf, {square}, {square, vectors}) == PCRT_OK);
  CHECK(call(table.householder_product, {square, vectors}, {square}) == PCRT_OK);
  CHECK(call(table.ormqr, {square, vectors, square}, {square}, {1, 0}) == PCRT_OK);
  CHECK(call(table.hessenberg, {square}, {square, noTaus}) == PCRT_OK);
  CHECK(call(table.tridiagonal, {square}, {square, vectors, noTaus, noTaus}, {1}) == PCRT_OK);
  Operand<int32_t> integers({2, 2});
  CHECK(call(table.qr, {integers}, {integers, integers}, {0, 0}) == PCRT_INVALID_ARGUMENT);
}

static void manyThreads() {
  CHECK(holdsConcurrently([](int thread) {
    Operand<double> a = stackOf<double>({3, 5, 4}, size_t(thread)), q({3, 5, 4}), r({3, 4, 4});
    Operand<int32_t> p({3, 4});
    bool holds = call(table.qr, {a}, {q, r, p}, {false, true}) == PCRT_OK;
    for (int64_t index = 0; index < 3; ++index)
      holds &= near(adjoint(Matrix<double>(q, index)) * Matrix<double>(q, index), identity<double>(4));
    return holds;
  }));
}

int main() {
  fake::fillTable<Routines>();
  RUN(singlePrecision);
  RUN(doublePrecision);
  RUN(complexNumbers);
  RUN(emptyAndRefused);
  RUN(manyThreads);
  CHECK(fake::brokenRules == 0);
  return test::failures() != 0;
}

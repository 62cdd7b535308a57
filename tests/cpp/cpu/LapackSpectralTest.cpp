// The library routines for eigenvalues, singular values and Schur forms, over stand-ins for LAPACK: elements arrive at
// their positions, workspaces have the sizes that LAPACK returns or documents, and matrices that do not converge give
// nan.
#include "Check.h"
#include "FakeSpectral.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

using namespace test;
using pcrt::lapack::ComplexOf;
using pcrt::lapack::isComplex;
using pcrt::lapack::RealOf;

static const PcrtTable &table = pcrt::libraryTable();

/// The element (i, j) of a stack's matrix of n columns, and the number that a stand-in writes there.
template <typename T> static T &at(Operand<T> &stack, int64_t index, int64_t i, int64_t j) {
  size_t rank = stack.dims.size();
  int64_t rows = stack.dims[rank - 2], columns = stack.dims[rank - 1];
  return stack.values[size_t((index * rows + i) * columns + j)];
}

template <typename T> static bool isPattern(Operand<T> stack, int64_t index, int more = 0) {
  for (int64_t i = 0; i < stack.dims[1]; ++i)
    for (int64_t j = 0; j < stack.dims[2]; ++j)
      if (at(stack, index, i, j) != T(RealOf<T>(10 * i + j + more)))
        return false;
  return true;
}

/// Whether matrix `index` of a stack is all nan, and no other matrix has a nan.
template <typename T> static bool onlyNan(const Operand<T> &stack, int64_t index) {
  size_t part = stack.values.size() / size_t(stack.dims[0]);
  for (size_t i = 0; i < stack.values.size(); ++i)
    if ((stack.values[i] != stack.values[i]) != (int64_t(i / part) == index))
      return false;
  return true;
}

/// Three matrices. 13 as the first element of the second one makes stand-ins fail, and so does a nan in the third one.
template <typename T> static Operand<T> stackOf(int64_t m, int64_t n) {
  Operand<T> a({3, m, n});
  for (size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = RealOf<T>(20 + int(i));
  return a;
}

template <typename T> static void checkEigh() {
  constexpr int64_t n = 17; // smaller ones are not LAPACK's
  for (bool vectors : {false, true})
    for (bool lower : {false, true}) {
      Operand<T> a = stackOf<T>(n, n), v(a.dims);
      Operand<RealOf<T>> w({3, n});
      at(a, 1, 0, 0) = 13;
      std::vector<PcrtTensor> outputs = {w};
      if (vectors)
        outputs.insert(outputs.begin(), v);
      CHECK(call(table.eigh, {a}, outputs, {vectors, lower}) == PCRT_OK);
      CHECK(onlyNan(w, 1) && (!vectors || onlyNan(v, 1)));
      for (int64_t index : {0, 2}) {
        CHECK(w.values[size_t(n * index)] == std::real(lower ? at(a, index, n - 1, 0) : at(a, index, 0, n - 1)));
        CHECK(w.values[size_t(n * index + n - 1)] == std::real(at(a, index, n - 1, n - 1)));
        CHECK(!vectors || isPattern(v, index));
      }
      at(a, 1, 0, 0) = 1;
      at(a, 2, 1, 2) = std::numeric_limits<RealOf<T>>::infinity();
      CHECK(call(table.eigh, {a}, outputs, {vectors, lower}) == PCRT_OK && onlyNan(w, 2));
    }
}

template <typename T> static void checkEig() {
  using C = ComplexOf<T>;
  for (bool wantsLeft : {false, true})
    for (bool wantsRight : {false, true}) {
      Operand<T> a = stackOf<T>(3, 3);
      Operand<C> w({3, 3}), left(a.dims), right(a.dims);
      for (int64_t index = 0; index < 3; ++index) { // a pair of conjugate numbers, last; the others are real
        at(a, index, 1, 0) = 0;
        if (isComplex<T>)
          at(a, index, 2, 1) = 0;
      }
      at(a, 1, 0, 0) = 13;
      std::vector<PcrtTensor> outputs = {w};
      if (wantsLeft)
        outputs.push_back(left);
      if (wantsRight)
        outputs.push_back(right);
      CHECK(call(table.eig, {a}, outputs, {wantsLeft, wantsRight}) == PCRT_OK);
      CHECK(onlyNan(w, 1) && (!wantsLeft || onlyNan(left, 1)) && (!wantsRight || onlyNan(right, 1)));
      for (int64_t index : {0, 2}) {
        auto middle = C(at(a, index, 1, 1));
        CHECK(w.values[size_t(3 * index)] == C(at(a, index, 0, 0)));
        CHECK(w.values[size_t(3 * index + 1)] == (isComplex<T> ? middle : middle + C(0, 1)));
        for (auto [stack, more] : {std::pair(&left, 100), std::pair(&right, 0)}) {
          if (!(more ? wantsLeft : wantsRight))
            continue;
          if (isComplex<T>) {
            CHECK(isPattern(*stack, index, more));
            continue;
          }
          for (int i = 0; i < 3; ++i) { // the columns 1 and 2 are real and imaginary parts
            CHECK(at(*stack, index, i, 0) == C(RealOf<T>(10 * i + more)));
            CHECK(at(*stack, index, i, 1) == C(RealOf<T>(10 * i + 1 + more), RealOf<T>(10 * i + 2 + more)));
            CHECK(at(*stack, index, i, 2) == std::conj(at(*stack, index, i, 1)));
          }
        }
      }
    }
}

template <typename T> static void checkSvd() {
  for (auto [m, n] : {std::pair(3, 2), std::pair(2, 4), std::pair(3, 3), std::pair(1, 1), std::pair(1, 9)})
    for (bool byQr : {false, true})
      for (bool vectors : {false, true})
        for (bool full : {false, true}) {
          int64_t k = std::min(m, n);
          Operand<T> a = stackOf<T>(m, n), u({3, m, full ? m : k}), vt({3, full ? n : k, n});
          Operand<RealOf<T>> s({3, k});
          at(a, 1, 0, 0) = 13;
          std::vector<PcrtTensor> outputs = {s};
          if (vectors)
            outputs.insert(outputs.end(), {u, vt});
          CHECK(call(table.svd, {a}, outputs, {byQr, vectors, full}) == PCRT_OK);
          CHECK(onlyNan(s, 1) && s.values[0] == RealOf<T>(k + (byQr ? 1000 : 0)));
          if (!vectors)
            continue;
          CHECK(onlyNan(u, 1) && onlyNan(vt, 1));
          CHECK(isPattern(u, 0) && isPattern(vt, 0, 100) && isPattern(u, 2) && isPattern(vt, 2, 100));
        }
}

template <typename T> static void checkSchur() {
  for (bool vectors : {false, true}) {
    Operand<T> a = stackOf<T>(3, 3), t(a.dims), z(a.dims);
    at(a, 1, 0, 0) = 13;
    std::vector<PcrtTensor> outputs = {t};
    if (vectors)
      outputs.push_back(z);
    CHECK(call(table.schur, {a}, outputs, {vectors}) == PCRT_OK);
    CHECK(onlyNan(t, 1) && (!vectors || onlyNan(z, 1)));
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        T signs = pcrt::lapack::conjugate(fake::sign<T>(int(i))) * fake::sign<T>(int(j));
        CHECK(at(t, 2, i, j) == at(a, 2, i, j) * signs);
        CHECK(!vectors || at(z, 2, i, j) == (i == j ? fake::sign<T>(int(i)) : T(0)));
      }
  }
}

/// Upper triangles are Schur forms except for signs: the result satisfies A X + X B = C.
template <typename T> static void checkSylvester() {
  constexpr int64_t m = 3, n = 2;
  Operand<T> a({3, m, m}), b({3, n, n}), c({3, m, n}), x(c.dims);
  for (size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = i / 3 % 3 > i % 3 ? T(0) : T(RealOf<T>(1 + i % 5));
  for (size_t i = 0; i < b.values.size(); ++i)
    b.values[i] = i / 2 % 2 > i % 2 ? T(0) : T(RealOf<T>(2 + i % 3));
  for (size_t i = 0; i < c.values.size(); ++i)
    c.values[i] = RealOf<T>(i % 7) - 3;
  if constexpr (isComplex<T>)
    at(a, 0, 0, 1) = {1, 2};
  at(a, 1, 0, 0) = -at(b, 1, 0, 0); // no unique solution
  CHECK(call(table.sylvester, {a, b, c}, {x}) == PCRT_OK && onlyNan(x, 1));
  for (int64_t index : {0, 2})
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T sum = -at(c, index, i, j);
        for (int64_t k = 0; k < m; ++k)
          sum += at(a, index, i, k) * at(x, index, k, j);
        for (int64_t k = 0; k < n; ++k)
          sum += at(x, index, i, k) * at(b, index, k, j);
        CHECK(std::abs(sum) < 1e-5);
      }
}

template <typename T> static void checkType() {
  checkEigh<T>();
  checkEig<T>();
  checkSvd<T>();
  checkSchur<T>();
  checkSylvester<T>();
}

static void singlePrecision() { checkType<float>(); }
static void doublePrecision() { checkType<double>(); }
static void complexNumbers() { checkType<std::complex<float>>(), checkType<std::complex<double>>(); }

static void emptyAndRefused() {
  for (Dims dims : {Dims{2, 0, 0}, Dims{0, 2, 2}}) {
    Operand<double> a(dims), v(dims), w({dims[0], dims[1]});
    Operand<std::complex<double>> complexW(w.dims), complexV(dims);
    CHECK(call(table.eigh, {a}, {v, w}, {1, 1}) == PCRT_OK);
    CHECK(call(table.eig, {a}, {complexW, complexV, complexV}, {1, 1}) == PCRT_OK);
    CHECK(call(table.schur, {a}, {v, v}, {1}) == PCRT_OK && call(table.sylvester, {a, a, a}, {v}) == PCRT_OK);
  }
  // Without elements, the vectors of a full decomposition are identities.
  Operand<float> a({1, 2, 0}), s({1, 0}), u({1, 2, 2}), vt({1, 0, 0});
  CHECK(call(table.svd, {a}, {s, u, vt}, {0, 1, 1}) == PCRT_OK);
  CHECK((u.values == std::vector<float>{1, 0, 0, 1}));
  Operand<int32_t> integers({2, 2});
  for (PcrtLibraryCall routine : {table.eigh, table.eig, table.svd, table.schur})
    CHECK(call(routine, {integers}, {integers, integers, integers}, {1, 1, 1}) == PCRT_INVALID_ARGUMENT);
  CHECK(call(table.sylvester, {integers, integers, integers}, {integers}) == PCRT_INVALID_ARGUMENT);
}

static void manyThreads() {
  CHECK(holdsConcurrently([](int) {
    Operand<std::complex<double>> a = stackOf<std::complex<double>>(4, 3), u({3, 4, 3}), vt({3, 3, 3});
    Operand<double> s({3, 3});
    return call(table.svd, {a}, {s, u, vt}, {0, 1, 0}) == PCRT_OK && isPattern(u, 2) && isPattern(vt, 2, 100);
  }));
}

int main() {
  fake::fillTable<fake::Spectral>();
  RUN(singlePrecision);
  RUN(doublePrecision);
  RUN(complexNumbers);
  RUN(emptyAndRefused);
  RUN(manyThreads);
  CHECK(fake::brokenRules == 0);
  return test::failures() != 0;
}

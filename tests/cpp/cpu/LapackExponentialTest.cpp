// The library routines expm and expm_frechet, over stand-ins for LAPACK, compared with exponentials in closed form.
#include "Check.h"
#include "FakeLapack.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

#include <cstring>

using namespace test;

static const PcrtTable &table = pcrt::libraryTable();
template <typename T> static std::vector<T> expm(Dims dims, std::vector<T> values, int64_t maxSquarings = 16) {
  Operand<T> a(dims, values), out(dims);
  CHECK(call(table.expm, {a}, {out}, {maxSquarings}) == PCRT_OK);
  CHECK(values.empty() || std::memcmp(a.values.data(), values.data(), values.size() * sizeof(T)) == 0);
  return out.values;
}

template <typename T> static bool near(const std::vector<T> &a, const std::vector<T> &b, double tolerance) {
  for (size_t i = 0; i < b.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance))
      return false;
  return a.size() == b.size();
}

template <typename T> static bool allNan(const std::vector<T> &values) {
  return std::all_of(values.begin(), values.end(), [](T x) { return x != x; });
}

/// Angles for each order of the approximants, and beyond, where the exponential is squared.
template <typename T> static void checkRotations(double tolerance) {
  for (double angle : {0.0, 0.01, 0.2, 0.7, 1.5, 3.0, 5.0, 20.0}) {
    T t = T(angle), c = T(std::cos(angle)), s = T(std::sin(angle));
    CHECK(near(expm<T>({2, 2}, {0, -t, t, 0}), {c, -s, s, c}, tolerance * (1 + angle)));
    CHECK(near(expm<T>({1, 1}, {-t}), {T(std::exp(-angle))}, tolerance * (1 + angle)));
  }
}

static void closedForms() {
  checkRotations<float>(1e-6);
  checkRotations<double>(1e-14);
  checkRotations<std::complex<float>>(1e-6);
  checkRotations<std::complex<double>>(1e-14);
  using Complex = std::complex<double>;
  CHECK(near(expm<Complex>({1, 1}, {{0, M_PI}}), {-1}, 1e-14));
  CHECK(near(expm<Complex>({2, 2}, {{0, 1}, 0, {1, 1}, {0, 1}}),
             {std::polar(1.0, 1.0), 0, std::polar(1.0, 1.0) * Complex(1, 1), std::polar(1.0, 1.0)}, 1e-14));
  CHECK(near(expm<double>({3, 3}, {0, 1, 2, 0, 0, 3, 0, 0, 0}), {1, 1, 3.5, 0, 1, 3, 0, 0, 1}, 1e-14));
}

static void stacks() {
  double e = std::exp(1);
  CHECK(near(expm<double>({2, 1, 2, 2}, {0, 1, 0, 0, 1, 0, 0, -1}), {1, 1, 0, 1, e, 0, 0, 1 / e}, 1e-14));
  for (Dims dims : {Dims{0, 0}, Dims{0, 2, 2}, Dims{2, 0, 0}}) {
    CHECK(expm<float>(dims, {}).empty());
    Operand<float> a(dims), e(dims), out(dims);
    CHECK(call(table.expm_frechet, {a, e}, {out}, {16}) == PCRT_OK);
  }
}

static void tooGreat() {
  CHECK(near(expm<double>({1, 1}, {20}, 2), {std::exp(20.0)}, 1e-5)); // 20 / 5.37 takes two squarings
  CHECK(allNan(expm<double>({1, 1}, {20}, 1)));
  CHECK(allNan(expm<double>({2, 2}, {1, notANumber, 0, 1})));
  CHECK(allNan(expm<double>({2, 2}, {1, inf, 0, 1})) && allNan(expm<float>({1, 1}, {-INFINITY})));
  CHECK(allNan(expm<double>({2, 2}, {1e308, 1e308, 1e308, 1e308})));     // the norm overflows
  std::vector<double> second = expm<double>({2, 1, 1}, {notANumber, 0}); // the other matrix does not change
  CHECK(second[0] != second[0] && second[1] == 1);
}

static void derivative() {
  auto along = [](std::vector<double> a, std::vector<double> direction) {
    Operand<double> x({2, 2}, a), e({2, 2}, direction), out({2, 2});
    CHECK(call(table.expm_frechet, {x, e}, {out}, {16}) == PCRT_OK);
    return out.values;
  };
  // Along the matrix itself, a rotation's: A exp(A).
  double c = std::cos(0.7), s = std::sin(0.7);
  std::vector<double> turn = {0, -0.7, 0.7, 0}, slope = {-0.7 * s, -0.7 * c, 0.7 * c, -0.7 * s};
  CHECK(near(along(turn, turn), slope, 1e-14));
  // A direction of any size, without more squarings.
  std::vector<double> great;
  for (double x : turn)
    great.push_back(x * 1e100);
  for (double &x : slope)
    x *= 1e100;
  CHECK(near(along(turn, great), slope, 1e87));
  CHECK(near(along({0, 0, 0, 0}, {1, 2, 3, 4}), {1, 2, 3, 4}, 1e-15));
  CHECK(near(along(turn, {0, 0, 0, 0}), {0, 0, 0, 0}, 0));
  // At diag(0, log 2) in the direction of the corner: the divided difference (2 - 1) / log 2.
  CHECK(near(along({0, 0, 0, std::log(2)}, {0, 1, 0, 0}), {0, 1 / std::log(2), 0, 0}, 1e-15));
  CHECK(allNan(along(turn, {inf, 0, 0, 0})) && allNan(along({notANumber, 0, 0, 0}, turn)));
}

static void refusesNonsense() {
  Operand<int32_t> integers({2, 2});
  CHECK(call(table.expm, {integers}, {integers}, {16}) == PCRT_INVALID_ARGUMENT);
  CHECK(call(table.expm_frechet, {integers, integers}, {integers}, {16}) == PCRT_INVALID_ARGUMENT);
}

static void manyThreads() {
  std::vector<double> a = {1, -2, 3, 0.5, 4, 1, -1, 2, -3}, expected = expm<double>({3, 3}, a);
  CHECK(holdsConcurrently([&](int) { return expm<double>({3, 3}, a) == expected; }));
}

int main() {
  fake::fillTable<fake::Solving>();
  RUN(closedForms);
  RUN(stacks);
  RUN(tooGreat);
  RUN(derivative);
  RUN(refusesNonsense);
  RUN(manyThreads);
  CHECK(fake::brokenRules == 0);
  return test::failures() != 0;
}

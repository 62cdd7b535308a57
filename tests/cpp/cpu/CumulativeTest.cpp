// The library routine of cumsum and its relatives, compared with running results that are computed here.
#include "Check.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace test;

enum Kind : int64_t { Sum, Product, Max, Min, LogSumExp };

template <typename T> static bool same(const std::vector<T> &a, const std::vector<T> &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i]) && !(a[i] != a[i] && b[i] != b[i]))
      return false;
  return true;
}

static int32_t run(PcrtTensor input, PcrtTensor output, Kind kind, int64_t axis = 0, bool reverse = false) {
  return call(pcrt::libraryTable().cumulative, {input}, {output}, {kind, axis, reverse});
}

/// A vector's running results.
template <typename T> static std::vector<T> of(std::vector<T> values, Kind kind, bool reverse = false) {
  Operand<T> input({static_cast<int64_t>(values.size())}, values), output(input.dims);
  CHECK(run(input, output, kind, 0, reverse) == PCRT_OK);
  CHECK(same(input.values, values));
  return output.values;
}

static void kinds() {
  CHECK(same(of<int32_t>({3, 1, -2}, Sum), {3, 4, 2}));
  CHECK(same(of<int32_t>({3, 1, -2}, Sum, true), {2, -1, -2}));
  CHECK(same(of<double>({3, 1, -2}, Product), {3, 3, -6}));
  CHECK(same(of<double>({3, 1, -2}, Product, true), {-6, -2, -2}));
  CHECK(same(of<int16_t>({1, 3, 2}, Max), {1, 3, 3}));
  CHECK(same(of<int16_t>({1, 3, 2}, Max, true), {3, 3, 2}));
  CHECK(same(of<uint64_t>({2, 1, 3}, Min), {2, 1, 1}));
  CHECK(same(of<uint64_t>({2, 1, 3}, Min, true), {1, 1, 3}));
  std::vector<double> sums = of<double>({0, 0, std::log(2.0)}, LogSumExp);
  CHECK(sums[0] == 0 && std::fabs(sums[1] - std::log(2.0)) < 1e-15 && std::fabs(sums[2] - std::log(4.0)) < 1e-15);
}

/// Sums and products of integers wrap.
template <typename T> static void checkIntegers() {
  T top = std::numeric_limits<T>::max(), bottom = std::numeric_limits<T>::min();
  CHECK(same(of<T>({top, 1, 1}, Sum), {top, bottom, static_cast<T>(bottom + 1)}));
  CHECK(same(of<T>({top, 2, 3}, Product), {top, static_cast<T>(-2), static_cast<T>(-6)}));
  CHECK(same(of<T>({1, bottom, top, 2}, Max), {1, 1, top, top}));
  CHECK(same(of<T>({1, top, bottom, 2}, Min), {1, 1, bottom, bottom}));
}

static void integers() {
  checkIntegers<int8_t>();
  checkIntegers<int16_t>();
  checkIntegers<int32_t>();
  checkIntegers<int64_t>();
  checkIntegers<uint8_t>();
  checkIntegers<uint16_t>();
  checkIntegers<uint32_t>();
  checkIntegers<uint64_t>();
  Operand<uint8_t> bools({3}, {0, 1, 0}), output({3});
  CHECK(run(bools.as(DType::Bool), output.as(DType::Bool), Max) == PCRT_OK);
  CHECK(same<uint8_t>(output.values, {0, 1, 1}));
}

/// Accumulators are wider than elements.
static void wideSums() {
  CHECK(same(of<float>({1e8f, 1, 1, 1, -1e8f}, Sum), {1e8f, 1e8f, 1e8f, 1e8f, 3}));
  CHECK(of(std::vector<BFloat>(300, BFloat(1)), Sum).back() == 300.0f); // bfloat16 alone would stay at 256
  CHECK(of(std::vector<Half>(3000, Half(1)), Sum).back() == 3000.0f);
}

static void nansAndInfinities() {
  CHECK(same(of<double>({1, notANumber, 2, inf}, Max), {1, notANumber, notANumber, notANumber}));
  CHECK(same(of<double>({1, notANumber, 2, inf}, Min), {1, notANumber, notANumber, notANumber}));
  CHECK(same(of<float>({1, float(notANumber), 2}, Sum), {1, float(notANumber), float(notANumber)}));
  CHECK(same(of<double>({inf, -inf}, Sum), {inf, notANumber}));
  CHECK(same(of<double>({-inf, -inf, 1, inf, inf}, LogSumExp), {-inf, -inf, 1, inf, inf}));
  CHECK(same(of<double>({-inf, inf, notANumber}, LogSumExp), {-inf, inf, notANumber}));
  CHECK(same(of<Half>({Half(1), Half(float(notANumber))}, Max), {Half(1), Half(float(notANumber))}));
}

static void complexNumbers() {
  using Narrow = std::complex<float>;
  using Wide = std::complex<double>;
  CHECK(same(of<Narrow>({{1, 2}, {3, -1}}, Sum), {{1, 2}, {4, 1}}));
  CHECK(same(of<Wide>({{0, 1}, {0, 1}, {2, 1}}, Product), {{0, 1}, {-1, 0}, {-2, -1}}));
  Operand<Wide> x({2}, {{1, 2}, {3, 4}}), y({2});
  for (Kind kind : {Max, Min, LogSumExp})
    CHECK(run(x, y, kind) == PCRT_INVALID_ARGUMENT);
}

/// Strided lines are computed together, in groups: sizes around that of a group.
static void anyDimension() {
  for (int64_t inner : {1, 2, 63, 64, 65, 130})
    for (int64_t axis : {0, 1, 2})
      for (bool reverse : {false, true}) {
        Operand<int32_t> x({2, 3, inner}), y(x.dims);
        for (size_t i = 0; i < x.values.size(); ++i)
          x.values[i] = static_cast<int32_t>(i * 2654435761u % 100);
        CHECK(run(x, y, Sum, axis, reverse) == PCRT_OK);
        int64_t stride = axis == 0 ? 3 * inner : axis == 1 ? inner : 1, length = x.dims[static_cast<size_t>(axis)];
        for (int64_t i = 0; i < 6 * inner; ++i) {
          int64_t position = i / stride % length, sum = 0;
          for (int64_t k = reverse ? position : 0; k < (reverse ? length : position + 1); ++k)
            sum += x.values[static_cast<size_t>(i + (k - position) * stride)];
          CHECK(y.values[static_cast<size_t>(i)] == sum);
        }
      }
}

static void empty() {
  for (Dims dims : {Dims{0}, Dims{0, 3}, Dims{3, 0}})
    for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis) {
      Operand<float> x(dims), y(dims);
      CHECK(run(x, y, Sum, axis) == PCRT_OK);
    }
  CHECK(same(of<double>({5}, LogSumExp), {5}));
}

static void refusesNonsense() {
  Operand<float> x({2, 3}), y({2, 3}), other({3, 2}), flat({6}), scalar(Dims{});
  CHECK(run(x, y, Sum, 2) == PCRT_INVALID_ARGUMENT);
  CHECK(run(x, y, Sum, -1) == PCRT_INVALID_ARGUMENT);
  CHECK(run(scalar, scalar, Sum, 0) == PCRT_INVALID_ARGUMENT);
  CHECK(run(x, y, Kind(5)) == PCRT_INVALID_ARGUMENT && run(x, y, Kind(-1)) == PCRT_INVALID_ARGUMENT);
  CHECK(run(x, y.as(DType::Int32), Sum) == PCRT_INVALID_ARGUMENT);
  CHECK(run(x.as(DType::Key), y.as(DType::Key), Sum) == PCRT_INVALID_ARGUMENT);
  CHECK(run(x, other, Sum) == PCRT_INVALID_ARGUMENT && run(x, flat, Sum) == PCRT_INVALID_ARGUMENT);
  auto routine = pcrt::libraryTable().cumulative;
  CHECK(call(routine, {x, x}, {y}, {Sum, 0, 0}) == PCRT_INVALID_ARGUMENT);
  CHECK(call(routine, {x}, {y, y}, {Sum, 0, 0}) == PCRT_INVALID_ARGUMENT);
  CHECK(call(routine, {}, {y}, {Sum, 0, 0}) == PCRT_INVALID_ARGUMENT);
  CHECK(same(y.values, std::vector<float>(6, 7)));
}

/// Long lines are computed in parts, with a second pass. Whole numbers below 2^53 have no roundings, in any order.
template <typename T> static void checkLongLines(Kind kind) {
  for (int64_t length : {int64_t(1) << 16, (int64_t(1) << 16) + 7, 3 * (int64_t(1) << 16) - 513})
    for (int64_t outer : {1, 3})
      for (bool reverse : {false, true}) {
        Operand<T> x({outer, length}), y(x.dims);
        for (size_t i = 0; i < x.values.size(); ++i)
          x.values[i] = static_cast<T>(kind == Product ? (i % 501 ? 1 : -1) : static_cast<int>(i * 37 % 101) - 50);
        CHECK(run(x, y, kind, 1, reverse) == PCRT_OK);
        std::vector<T> want(x.values.size());
        for (int64_t line = 0; line < outer; ++line) {
          T running{};
          for (int64_t i = 0; i < length; ++i) {
            auto at = static_cast<size_t>(line * length + (reverse ? length - 1 - i : i));
            T element = x.values[at];
            running = i == 0            ? element
                      : kind == Sum     ? static_cast<T>(running + element)
                      : kind == Product ? static_cast<T>(running * element)
                      : kind == Max     ? std::max(running, element)
                                        : std::min(running, element);
            want[at] = running;
          }
        }
        CHECK(same(y.values, want));
      }
}

static void longLines() {
  for (Kind kind : {Sum, Product, Max, Min}) {
    checkLongLines<double>(kind);
    checkLongLines<int32_t>(kind);
  }
}

static void manyThreads() {
  Operand<float> x({50, 70});
  for (size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = static_cast<float>(i % 17) - 8;
  std::vector<std::vector<float>> expected;
  for (Kind kind : {Sum, Product, Max, Min, LogSumExp})
    for (int64_t axis : {0, 1}) {
      Operand<float> y(x.dims);
      REQUIRE(run(x, y, kind, axis) == PCRT_OK);
      expected.push_back(y.values);
    }
  CHECK(holdsConcurrently([&](int thread) {
    Operand<float> y(x.dims);
    bool holds = true;
    for (size_t i = 0; i < expected.size(); ++i) {
      size_t at = (i + static_cast<size_t>(thread)) % expected.size();
      holds &= run(x, y, Kind(at / 2), static_cast<int64_t>(at % 2)) == PCRT_OK && same(y.values, expected[at]);
    }
    return holds;
  }));
}

int main() {
  RUN(kinds);
  RUN(integers);
  RUN(wideSums);
  RUN(nansAndInfinities);
  RUN(complexNumbers);
  RUN(anyDimension);
  RUN(empty);
  RUN(refusesNonsense);
  RUN(longLines);
  RUN(manyThreads);
  return test::failures() != 0;
}

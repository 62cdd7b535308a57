// The library routines of reduce_window_*, select_and_gather and select_and_scatter: small cases by hand, larger ones
// compared with a walk through every window.
#include "Check.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

#include <cmath>
#include <random>

using namespace test;

enum Kind : int64_t { Sum, Product, Max, Min };

/// A dimension of windows, in the order of the parameters.
struct Window {
  int64_t size = 1, stride = 1, low = 0, baseDilation = 1, dilation = 1;
};
using Windows = std::vector<Window>;

static std::vector<int64_t> paramsOf(int64_t first, const Windows &windows) {
  std::vector<int64_t> params = {first};
  for (const Window &w : windows)
    params.insert(params.end(), {w.size, w.stride, w.low, w.baseDilation, w.dilation});
  return params;
}

template <typename T> static std::vector<T> reduced(Operand<T> x, Kind kind, const Windows &windows, Dims results) {
  Operand<T> y(std::move(results));
  CHECK(call(pcrt::libraryTable().reduce_window, {x}, {y}, paramsOf(kind, windows)) == PCRT_OK);
  return y.values;
}

static void kinds() {
  Operand<int32_t> x({5}, {1, 2, 3, 4, 5});
  using Values = std::vector<int32_t>;
  CHECK((reduced(x, Sum, {{3}}, {3}) == Values{6, 9, 12}));
  CHECK((reduced(x, Product, {{3}}, {3}) == Values{6, 24, 60}));
  CHECK((reduced(x, Max, {{3}}, {3}) == Values{3, 4, 5}));
  CHECK((reduced(x, Min, {{3}}, {3}) == Values{1, 2, 3}));
  CHECK((reduced(x, Sum, {{3, 1, 1}}, {5}) == Values{3, 6, 9, 12, 9}));            // padding on both sides
  CHECK((reduced(x, Sum, {{2, 2}}, {2}) == Values{3, 7}));                         // strides
  CHECK((reduced(x, Sum, {{2, 1, 0, 2}}, {8}) == Values{1, 2, 2, 3, 3, 4, 4, 5})); // gaps in the operand
  CHECK((reduced(x, Sum, {{2, 1, 0, 1, 3}}, {2}) == Values{5, 7}));                // gaps in the window
  CHECK((reduced(x, Sum, {{2, 1, -1}}, {3}) == Values{5, 7, 9}));                  // negative padding cuts
  CHECK((reduced(Operand<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}), Sum, {{2}, {2}}, {1, 2}) == Values{12, 16}));
}

/// A window of only padding holds the neutral element.
static void paddingAlone() {
  constexpr float inf = INFINITY;
  Operand<float> x({1}, {2});
  CHECK((reduced(x, Max, {{1, 1, 1}}, {3}) == std::vector<float>{-inf, 2, -inf}));
  CHECK((reduced(x, Min, {{1, 1, 1}}, {3}) == std::vector<float>{inf, 2, inf}));
  CHECK((reduced(x, Sum, {{1, 1, 1}}, {3}) == std::vector<float>{0, 2, 0}));
  CHECK((reduced(x, Product, {{1, 1, 1}}, {3}) == std::vector<float>{1, 2, 1}));
  CHECK((reduced(Operand<int8_t>({1}, {2}), Max, {{1, 1, 1}}, {2}) == std::vector<int8_t>{-128, 2}));
  CHECK((reduced(Operand<uint8_t>({1}, {2}), Min, {{1, 1, 1}}, {2}) == std::vector<uint8_t>{255, 2}));
}

static void nansAndWrapping() {
  for (Kind kind : {Max, Min}) {
    std::vector<float> y = reduced(Operand<float>({4}, {1, float(notANumber), 2, 3}), kind, {{2}}, {3});
    CHECK(y[0] != y[0] && y[1] != y[1] && y[2] == (kind == Max ? 3 : 2));
  }
  CHECK((reduced(Operand<int8_t>({2}, {100, 100}), Sum, {{2}}, {1}) == std::vector<int8_t>{-56}));
  CHECK((reduced(Operand<uint16_t>({2}, {65535, 65535}), Product, {{2}}, {1}) == std::vector<uint16_t>{1}));
  std::vector<BFloat> ones(300, BFloat(1));
  CHECK(reduced(Operand<BFloat>({300}, ones), Sum, {{300}}, {1})[0] == 300.0f); // added up in f32
}

/// The operand's elements that a window holds, in the order of rows; -1 for padding.
static std::vector<int64_t> elementsOf(const Dims &dims, const Windows &windows, const Dims &results, int64_t number) {
  std::vector<int64_t> places = {0};
  int64_t rest = number;
  Dims at(dims.size());
  for (size_t d = dims.size(); d-- > 0; rest /= results[d])
    at[d] = rest % results[d];
  for (size_t d = 0; d < dims.size(); ++d) {
    const Window &w = windows[d];
    std::vector<int64_t> next;
    for (int64_t place : places)
      for (int64_t k = 0; k < w.size; ++k) {
        int64_t i = at[d] * w.stride + k * w.dilation - w.low;
        bool holds = place >= 0 && i >= 0 && i % w.baseDilation == 0 && i / w.baseDilation < dims[d];
        next.push_back(holds ? place * dims[d] + i / w.baseDilation : -1);
      }
    places = next;
  }
  return places;
}

/// The position of the first maximum or minimum element; -1 for only padding.
template <typename T> static int64_t chosen(const std::vector<T> &x, const std::vector<int64_t> &places, bool isMax) {
  int64_t best = -1;
  for (int64_t place : places)
    if (place >= 0 && (best < 0 || (isMax ? x[static_cast<size_t>(place)] > x[static_cast<size_t>(best)]
                                          : x[static_cast<size_t>(place)] < x[static_cast<size_t>(best)])))
      best = place;
  return best;
}

/// Random windows over small integers, which every element type adds up without rounding.
template <typename T> static void checkRandom(unsigned seed) {
  std::mt19937 random(seed);
  auto draw = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random()) % (high - low + 1); };
  for (int round = 0; round < 60; ++round) {
    Dims dims, results;
    Windows windows;
    for (int64_t d = draw(0, 3); d > 0; --d) {
      dims.push_back(draw(1, d == 1 ? 20 : 6));
      windows.push_back({draw(1, 3), draw(1, 2), draw(-1, 2), draw(1, 2), draw(1, 2)});
      results.push_back(draw(1, 7));
    }
    Operand<T> x(dims), source(dims), y(results), gathered(results), scattered(dims), cotangent(results);
    for (T &value : x.values)
      value = T(draw(0, 3));
    for (T &value : source.values)
      value = T(draw(1, 3));
    for (T &value : cotangent.values)
      value = T(draw(1, 2));
    bool isMax = round % 2;
    const PcrtTable &table = pcrt::libraryTable();
    CHECK(call(table.reduce_window, {x}, {y}, paramsOf(Sum, windows)) == PCRT_OK);
    CHECK(call(table.select_and_gather, {source, x}, {gathered}, paramsOf(isMax, windows)) == PCRT_OK);
    CHECK(call(table.select_and_scatter, {cotangent, x}, {scattered}, paramsOf(isMax, windows)) == PCRT_OK);
    std::vector<double> totals(x.values.size());
    for (size_t o = 0; o < y.values.size(); ++o) {
      std::vector<int64_t> places = elementsOf(dims, windows, results, static_cast<int64_t>(o));
      double sum = 0;
      for (int64_t place : places)
        sum += place < 0 ? 0 : static_cast<double>(x.values[static_cast<size_t>(place)]);
      CHECK(static_cast<double>(y.values[o]) == sum);
      int64_t best = chosen(x.values, places, isMax);
      CHECK(static_cast<double>(gathered.values[o]) ==
            (best < 0 ? 0 : static_cast<double>(source.values[static_cast<size_t>(best)])));
      if (best >= 0)
        totals[static_cast<size_t>(best)] += static_cast<double>(cotangent.values[o]);
    }
    for (size_t i = 0; i < totals.size(); ++i)
      CHECK(static_cast<double>(scattered.values[i]) == totals[i]);
  }
}

static void randomWindows() {
  checkRandom<int8_t>(1);
  checkRandom<uint32_t>(2);
  checkRandom<int64_t>(3);
  checkRandom<Half>(4);
  checkRandom<float>(5);
  checkRandom<double>(6);
}

static void selection() {
  const PcrtTable &table = pcrt::libraryTable();
  Operand<float> x({4}, {1, 3, 3, 2}), source({4}, {10, 20, 30, 40}), gathered({3});
  CHECK(call(table.select_and_gather, {source, x}, {gathered}, paramsOf(1, {{2}})) == PCRT_OK);
  CHECK((gathered.values == std::vector<float>{20, 20, 30})); // the first of equal ones
  CHECK(call(table.select_and_gather, {source, x}, {gathered}, paramsOf(0, {{2}})) == PCRT_OK);
  CHECK((gathered.values == std::vector<float>{10, 20, 40}));
  Operand<float> cotangent({3}, {1, 10, 100}), scattered({4});
  CHECK(call(table.select_and_scatter, {cotangent, x}, {scattered}, paramsOf(1, {{2}})) == PCRT_OK);
  CHECK((scattered.values == std::vector<float>{0, 11, 100, 0}));
  Operand<float> outside({1}, {5});
  CHECK(call(table.select_and_scatter, {outside, x}, {scattered}, paramsOf(1, {{1, 1, 9}})) == PCRT_OK);
  CHECK((scattered.values == std::vector<float>(4, 0))); // windows that chose padding add nothing
}

static void emptyAndScalar() {
  CHECK((reduced(Operand<float>(Dims{}, {3}), Max, {}, {}) == std::vector<float>{3}));
  CHECK(reduced(Operand<float>(Dims{0}), Sum, {{3}}, {0}).empty());
  CHECK((reduced(Operand<float>(Dims{0}), Sum, {{2, 1, 1}}, {1}) == std::vector<float>{0}));
  CHECK((reduced(Operand<float>(Dims{2, 0}), Sum, {{2}, {2, 2, 2}}, {1, 2}) == std::vector<float>{0, 0}));
  CHECK(reduced(Operand<float>(Dims{3, 0}), Max, {{2}, {}}, {2, 0}).empty());
  Operand<double> scalar(Dims{}, {3}), result(Dims{});
  CHECK(call(pcrt::libraryTable().select_and_gather, {scalar, scalar}, {result}, {1}) == PCRT_OK);
  CHECK(result.values[0] == 3);
}

static void refusesNonsense() {
  const PcrtTable &table = pcrt::libraryTable();
  Operand<float> x({4}), y({3}), flat({2, 2}), longer({5}), shorter({2});
  auto reduceStatus = [&](PcrtTensor in, PcrtTensor out, int64_t kind, Window w) {
    return call(table.reduce_window, {in}, {out}, paramsOf(kind, {w, w}));
  };
  CHECK(reduceStatus(x, y, 4, {2}) == PCRT_INVALID_ARGUMENT && reduceStatus(x, y, -1, {2}) == PCRT_INVALID_ARGUMENT);
  for (Window w : {Window{0}, Window{2, 0}, Window{2, 1, 0, 0}, Window{2, 1, 0, 1, 0}, Window{-1}})
    CHECK(reduceStatus(x, y, Sum, w) == PCRT_INVALID_ARGUMENT);
  CHECK(reduceStatus(flat, y, Sum, {2}) == PCRT_INVALID_ARGUMENT);
  CHECK(reduceStatus(x, y.as(DType::Int32), Sum, {2}) == PCRT_INVALID_ARGUMENT);
  CHECK(reduceStatus(x.as(DType::Complex64), y.as(DType::Complex64), Sum, {2}) == PCRT_INVALID_ARGUMENT);
  CHECK(call(table.reduce_window, {x, x}, {y}, paramsOf(Sum, {{2}})) == PCRT_INVALID_ARGUMENT);
  CHECK(call(table.select_and_gather, {x}, {y}, paramsOf(1, {{2}})) == PCRT_INVALID_ARGUMENT);
  CHECK(call(table.select_and_scatter, {x}, {y}, paramsOf(1, {{2}})) == PCRT_INVALID_ARGUMENT);
  // The source does not fit the operand, nor does the result.
  for (PcrtTensor other : {PcrtTensor(longer), PcrtTensor(shorter)}) {
    CHECK(call(table.select_and_gather, {other, x}, {y}, paramsOf(1, {{2}})) == PCRT_INVALID_ARGUMENT);
    CHECK(call(table.select_and_scatter, {y, x}, {other}, paramsOf(1, {{2}})) == PCRT_INVALID_ARGUMENT);
  }
}

static void manyThreads() {
  const PcrtTable &table = pcrt::libraryTable();
  Operand<float> x({30, 31});
  for (size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = static_cast<float>(i * 7 % 23);
  Windows windows = {{3, 1, 1}, {3, 1, 1}};
  Operand<float> sums(x.dims), scattered(x.dims);
  REQUIRE(call(table.reduce_window, {x}, {sums}, paramsOf(Sum, windows)) == PCRT_OK);
  REQUIRE(call(table.select_and_scatter, {x, x}, {scattered}, paramsOf(1, windows)) == PCRT_OK);
  CHECK(holdsConcurrently([&](int) {
    Operand<float> y(x.dims), z(x.dims);
    return call(table.reduce_window, {x}, {y}, paramsOf(Sum, windows)) == PCRT_OK && y.values == sums.values &&
           call(table.select_and_scatter, {x, x}, {z}, paramsOf(1, windows)) == PCRT_OK && z.values == scattered.values;
  }));
}

int main() {
  RUN(kinds);
  RUN(paddingAlone);
  RUN(nansAndWrapping);
  RUN(randomWindows);
  RUN(selection);
  RUN(emptyAndScalar);
  RUN(refusesNonsense);
  RUN(manyThreads);
  return test::failures() != 0;
}

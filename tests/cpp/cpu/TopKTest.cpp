// The library routine of `top_k`, compared with sorting whole lines: in descending order, nan first, of equal elements
// the first ones.
#include "Check.h"
#include "runtime/DType.h"
#include "runtime/Executable.h"
#include "runtime/HostLibrary.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace pcrt;

template <typename T> static PcrtTensor tensor(std::vector<T> &data, const std::vector<int64_t> &dims, DType dtype) {
  return {data.data(), dims.data(), static_cast<int32_t>(dims.size()), static_cast<int32_t>(dtype)};
}

static int32_t topK(PcrtTensor input, PcrtTensor values, PcrtTensor places, int64_t dimension) {
  int64_t params[] = {dimension, 0, 0};
  PcrtTensor outputs[] = {values, places};
  return libraryTable().top_k(nullptr, &input, 1, outputs, 2, params);
}

template <typename T> static bool greater(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && !std::isnan(b);
  }
  return a > b;
}

/// The maximum `count` elements along the middle one of the dimensions [outer, length, inner].
template <typename T> static void check(std::vector<T> &data, std::vector<int64_t> dims, int64_t count, DType dtype) {
  std::vector<int64_t> outDims = {dims[0], count, dims[2]};
  auto size = static_cast<size_t>(dims[0] * count * dims[2]);
  std::vector<T> values(size);
  std::vector<int32_t> places(size), order(static_cast<size_t>(dims[1]));
  CHECK(topK(tensor(data, dims, dtype), tensor(values, outDims, dtype), tensor(places, outDims, DType::Int32), 1) ==
        PCRT_OK);
  bool same = true;
  for (int64_t outer = 0; outer < dims[0]; ++outer)
    for (int64_t inner = 0; inner < dims[2]; ++inner) {
      auto at = [&](int64_t i) { return data[static_cast<size_t>((outer * dims[1] + i) * dims[2] + inner)]; };
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return greater(at(a), at(b)); });
      for (int64_t i = 0; i < count; ++i) {
        auto out = static_cast<size_t>((outer * count + i) * dims[2] + inner);
        T expected = at(order[static_cast<size_t>(i)]);
        same &= places[out] == order[static_cast<size_t>(i)];
        same &= std::memcmp(&values[out], &expected, sizeof(T)) == 0;
      }
    }
  CHECK(same);
}

template <typename T> static void checkCounts(std::vector<T> data, DType dtype) {
  auto length = static_cast<int64_t>(data.size());
  for (int64_t count : {int64_t(0), int64_t(1), int64_t(5), int64_t(64), length / 20, length / 3, length})
    if (count <= length)
      check(data, {1, length, 1}, count, dtype);
}

/// Lines of which all elements become candidates, and others, in orders in which few or all elements exceed the earlier
/// ones, and with many equal ones.
template <typename T> static void checkOrders(DType dtype) {
  std::mt19937_64 random(4);
  for (size_t length : {100, 1025, 20000}) {
    std::vector<T> any(length), few(length), same(length, T(1)), greatest(length, std::numeric_limits<T>::max());
    for (size_t i = 0; i < length; ++i) {
      any[i] = static_cast<T>(random() % 100000);
      few[i] = static_cast<T>(random() % 3);
    }
    std::vector<T> up = any;
    std::sort(up.begin(), up.end());
    std::vector<T> down(up.rbegin(), up.rend());
    for (const std::vector<T> &data : {any, few, same, greatest, up, down})
      checkCounts(data, dtype);
  }
}

static void orders() {
  checkOrders<float>(DType::Float32);
  checkOrders<double>(DType::Float64);
  checkOrders<int8_t>(DType::Int8);
  checkOrders<uint16_t>(DType::UInt16);
  checkOrders<int32_t>(DType::Int32);
  checkOrders<int64_t>(DType::Int64);
}

/// The maximum elements at positions outside of the sample, and then more of them than requested.
static void hidden() {
  std::mt19937 random(5);
  std::vector<float> data(100000);
  for (float &value : data)
    value = static_cast<float>(random() % 1000);
  for (size_t i = 0; i < data.size(); i += 3)
    data[i] = 5000.0f + static_cast<float>(i);
  checkCounts(data, DType::Float32);
}

static void specials() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (size_t length : {40, 5000}) {
    std::vector<float> data(length, -1.0f);
    float values[] = {nan, -0.0f, 0.0f, infinity, -nan, 0.0f, -0.0f, -infinity, nan};
    for (size_t i = 0; i < std::size(values); ++i)
      data[length / 10 * i + 3] = values[i];
    checkCounts(data, DType::Float32);
    std::fill(data.begin(), data.end(), nan);
    checkCounts(data, DType::Float32);
  }
}

static void linesWithGaps() {
  std::mt19937 random(6);
  std::vector<int32_t> data(2 * 1500 * 7);
  for (int32_t &value : data)
    value = static_cast<int32_t>(random() % 1000);
  check(data, {2, 1500, 7}, 20, DType::Int32);
  check(data, {14, 1500, 1}, 20, DType::Int32);
  check(data, {100, 35, 6}, 4, DType::Int32);
}

static void refusesNonsense() {
  std::vector<float> data(6);
  std::vector<int32_t> places(6);
  std::vector<int64_t> dims = {4}, more = {5};
  auto call = [&](const std::vector<int64_t> &outDims, DType dtype, int64_t dimension) {
    return topK(tensor(data, dims, dtype), tensor(data, outDims, dtype), tensor(places, outDims, DType::Int32),
                dimension);
  };
  CHECK(call(more, DType::Float32, 0) == PCRT_INVALID_ARGUMENT);
  CHECK(call(dims, DType::Float32, 1) == PCRT_INVALID_ARGUMENT);
  CHECK(call(dims, DType::Float32, -1) == PCRT_INVALID_ARGUMENT);
  CHECK(call(dims, DType::Complex64, 0) == PCRT_INVALID_ARGUMENT);
}

int main() {
  RUN(orders);
  RUN(hidden);
  RUN(specials);
  RUN(linesWithGaps);
  RUN(refusesNonsense);
  return test::failures() != 0;
}

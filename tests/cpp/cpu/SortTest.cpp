// The library routine of `sort`, compared with std::stable_sort.
#include "Check.h"
#include "runtime/DType.h"
#include "runtime/Executable.h"
#include "runtime/HostLibrary.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace pcrt;

static int32_t sortTensors(std::vector<PcrtTensor> inputs, std::vector<PcrtTensor> outputs, int64_t dimension,
                           int64_t keys) {
  int64_t params[] = {dimension, keys, 1};
  auto count = static_cast<int32_t>(inputs.size());
  return libraryTable().sort(nullptr, inputs.data(), count, outputs.data(), count, params);
}

template <typename T> static PcrtTensor tensor(std::vector<T> &data, const std::vector<int64_t> &dims, DType dtype) {
  return {data.data(), dims.data(), static_cast<int32_t>(dims.size()), static_cast<int32_t>(dtype)};
}

/// nan last; -0 and +0 equal.
template <typename T> static bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

template <typename T> static bool sameBits(T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

/// Values with their positions, which show that equal keys keep their order.
template <typename T> static void checkValues(std::vector<T> values, DType dtype) {
  std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  std::vector<int32_t> positions(values.size()), outPositions(values.size());
  std::iota(positions.begin(), positions.end(), 0);
  std::vector<T> out(values.size());
  CHECK(sortTensors({tensor(values, dims, dtype), tensor(positions, dims, DType::Int32)},
                    {tensor(out, dims, dtype), tensor(outPositions, dims, DType::Int32)}, 0, 1) == PCRT_OK);
  std::stable_sort(positions.begin(), positions.end(), [&](int32_t a, int32_t b) {
    return before(values[static_cast<size_t>(a)], values[static_cast<size_t>(b)]);
  });
  CHECK(outPositions == positions);
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(sameBits(out[i], values[static_cast<size_t>(positions[i])]));
}

/// One operand: numbers without positions, in separate memory or in place.
template <typename T> static void checkAlone(std::vector<T> values, DType dtype) {
  std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  std::vector<T> out(values.size()), expected = values;
  std::stable_sort(expected.begin(), expected.end(), before<T>);
  CHECK(sortTensors({tensor(values, dims, dtype)}, {tensor(out, dims, dtype)}, 0, 1) == PCRT_OK);
  CHECK(sortTensors({tensor(values, dims, dtype)}, {tensor(values, dims, dtype)}, 0, 1) == PCRT_OK);
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(sameBits(out[i], expected[i]) && sameBits(values[i], expected[i]));
}

template <typename T> static void checkIntegers(DType dtype) {
  std::mt19937_64 random(7);
  std::vector<T> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(static_cast<T>(i % 3 ? random() : random() % 5));
  values.push_back(std::numeric_limits<T>::min());
  values.push_back(std::numeric_limits<T>::max());
  checkValues(values, dtype);
  checkAlone(values, dtype);
  checkValues(std::vector<T>{}, dtype);
}

template <typename T> static void checkFloats(DType dtype) {
  std::mt19937_64 random(8);
  std::normal_distribution<T> normal;
  std::vector<T> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(normal(random));
  checkAlone(values, dtype);
  T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (T special : {T(0), -T(0), infinity, -infinity, nan, -nan, std::numeric_limits<T>::denorm_min()})
    for (int i = 0; i < 5; ++i)
      values.insert(values.begin() + static_cast<long>(random() % values.size()), special);
  checkValues(values, dtype);
  // Zeros and nans of both signs keep their order, whatever way the line is sorted in.
  checkAlone(values, dtype);
}

static void integers() {
  checkIntegers<int8_t>(DType::Int8);
  checkIntegers<int16_t>(DType::Int16);
  checkIntegers<int32_t>(DType::Int32);
  checkIntegers<int64_t>(DType::Int64);
  checkIntegers<uint8_t>(DType::UInt8);
  checkIntegers<uint16_t>(DType::UInt16);
  checkIntegers<uint32_t>(DType::UInt32);
  checkIntegers<uint64_t>(DType::UInt64);
  checkValues<uint8_t>({1, 0, 1, 1, 0}, DType::Bool);
}

static void floats() {
  checkFloats<float>(DType::Float32);
  checkFloats<double>(DType::Float64);
}

/// All 16-bit patterns of a float format; the values are compared as floats.
static void checkNarrow(DType dtype, float (*widen)(uint16_t)) {
  std::vector<uint16_t> values(65536), out(65536);
  std::iota(values.begin(), values.end(), uint16_t(0));
  std::shuffle(values.begin(), values.end(), std::mt19937(9));
  std::vector<int64_t> dims = {65536};
  CHECK(sortTensors({tensor(values, dims, dtype)}, {tensor(out, dims, dtype)}, 0, 1) == PCRT_OK);
  std::stable_sort(values.begin(), values.end(), [&](uint16_t a, uint16_t b) { return before(widen(a), widen(b)); });
  CHECK(out == values);
}

static float widenHalf(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31)
    return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  return sign * (exponent ? std::ldexp(1024.0f + static_cast<float>(mantissa), exponent - 25)
                          : std::ldexp(static_cast<float>(mantissa), -24));
}

static float widenBFloat16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

static void narrowFloats() {
  checkNarrow(DType::Float16, widenHalf);
  checkNarrow(DType::BFloat16, widenBFloat16);
}

/// Strided lines of several widths: some are read together, and the last group is smaller.
static void anyDimension() {
  std::mt19937 random(10);
  for (std::vector<int64_t> dims : {std::vector<int64_t>{3, 5, 4}, {2, 600, 19}, {40, 16, 1}}) {
    auto size = static_cast<size_t>(dims[0] * dims[1] * dims[2]);
    std::vector<float> values(size), out(size);
    for (float &value : values)
      value = static_cast<float>(random() % 7);
    int64_t strides[] = {dims[1] * dims[2], dims[2], 1};
    for (size_t dimension = 0; dimension < 3; ++dimension) {
      CHECK(sortTensors({tensor(values, dims, DType::Float32)}, {tensor(out, dims, DType::Float32)},
                        static_cast<int64_t>(dimension), 1) == PCRT_OK);
      int64_t stride = strides[dimension], length = dims[dimension];
      for (int64_t start = 0; start < static_cast<int64_t>(size); ++start) {
        if (start / stride % length != 0)
          continue;
        std::vector<float> line, sorted;
        for (int64_t i = 0; i < length; ++i) {
          line.push_back(values[static_cast<size_t>(start + i * stride)]);
          sorted.push_back(out[static_cast<size_t>(start + i * stride)]);
        }
        std::sort(line.begin(), line.end());
        CHECK(line == sorted);
      }
    }
  }
}

static void severalKeys() {
  std::mt19937 random(11);
  std::vector<int64_t> dims = {500};
  std::vector<int32_t> a(500), outA(500);
  std::vector<double> b(500), outB(500);
  std::vector<uint8_t> c(500), outC(500);
  for (size_t i = 0; i < 500; ++i) {
    a[i] = static_cast<int32_t>(random() % 5) - 2;
    b[i] = static_cast<double>(random() % 5) - 2;
    c[i] = static_cast<uint8_t>(i);
  }
  CHECK(sortTensors(
            {tensor(a, dims, DType::Int32), tensor(b, dims, DType::Float64), tensor(c, dims, DType::UInt8)},
            {tensor(outA, dims, DType::Int32), tensor(outB, dims, DType::Float64), tensor(outC, dims, DType::UInt8)}, 0,
            2) == PCRT_OK);
  std::vector<size_t> order(500);
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return std::make_pair(a[i], b[i]) < std::make_pair(a[j], b[j]); });
  for (size_t i = 0; i < 500; ++i)
    CHECK(outA[i] == a[order[i]] && outB[i] == b[order[i]] && outC[i] == c[order[i]]);
}

static void inPlaceAndEmpty() {
  std::vector<int64_t> dims = {4};
  std::vector<int32_t> values = {3, 1, 2, 0};
  CHECK(sortTensors({tensor(values, dims, DType::Int32)}, {tensor(values, dims, DType::Int32)}, 0, 1) == PCRT_OK);
  CHECK((values == std::vector<int32_t>{0, 1, 2, 3}));
  // Several operands, one of 16 bytes, in the memory of the results.
  std::vector<int32_t> keys = {3, 1, 2, 1};
  std::vector<std::complex<double>> numbers = {{3, 0.5}, {1, 0.25}, {2, 0}, {1, 0.75}};
  std::vector<uint8_t> bytes = {7, 8, 9, 10};
  PcrtTensor operands[] = {tensor(keys, dims, DType::Int32), tensor(numbers, dims, DType::Complex128),
                           tensor(bytes, dims, DType::UInt8)};
  CHECK(sortTensors({operands[0], operands[1], operands[2]}, {operands[0], operands[1], operands[2]}, 0, 1) == PCRT_OK);
  CHECK((keys == std::vector<int32_t>{1, 1, 2, 3}) && (bytes == std::vector<uint8_t>{8, 10, 9, 7}));
  CHECK((numbers == std::vector<std::complex<double>>{{1, 0.25}, {1, 0.75}, {2, 0}, {3, 0.5}}));
  std::vector<int64_t> empty = {0, 4};
  CHECK(sortTensors({tensor(values, empty, DType::Int32)}, {tensor(values, empty, DType::Int32)}, 0, 1) == PCRT_OK);
  CHECK(sortTensors({tensor(values, empty, DType::Int32)}, {tensor(values, empty, DType::Int32)}, 1, 1) == PCRT_OK);
}

static void refusesNonsense() {
  std::vector<int64_t> dims = {4}, others = {5};
  std::vector<int32_t> values(5);
  PcrtTensor good = tensor(values, dims, DType::Int32), other = tensor(values, others, DType::Int32);
  CHECK(sortTensors({good}, {good}, 1, 1) == PCRT_INVALID_ARGUMENT);
  CHECK(sortTensors({good}, {good}, -1, 1) == PCRT_INVALID_ARGUMENT);
  CHECK(sortTensors({good}, {good}, 0, 2) == PCRT_INVALID_ARGUMENT);
  CHECK(sortTensors({good}, {good}, 0, 0) == PCRT_INVALID_ARGUMENT);
  CHECK(sortTensors({good, other}, {good, other}, 0, 1) == PCRT_INVALID_ARGUMENT);
  std::vector<int64_t> matrix = {2, 2};
  PcrtTensor square = tensor(values, matrix, DType::Int32), unsignedOne = tensor(values, dims, DType::UInt32),
             unknown = good, complexKey = tensor(values, dims, DType::Complex64);
  unknown.dtype = 1000;
  CHECK(sortTensors({good, square}, {good, square}, 0, 1) == PCRT_INVALID_ARGUMENT);
  CHECK(sortTensors({good}, {unsignedOne}, 0, 1) == PCRT_INVALID_ARGUMENT);
  CHECK(sortTensors({unknown}, {unknown}, 0, 1) == PCRT_INVALID_ARGUMENT);
  CHECK(sortTensors({complexKey}, {complexKey}, 0, 1) == PCRT_INVALID_ARGUMENT); // lax sorts keys of its parts
}

int main() {
  RUN(integers);
  RUN(floats);
  RUN(narrowFloats);
  RUN(anyDimension);
  RUN(severalKeys);
  RUN(inPlaceAndEmpty);
  RUN(refusesNonsense);
  return test::failures() != 0;
}

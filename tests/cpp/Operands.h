// Operands of library calls for tests, and calls from several threads at once.
#ifndef PYCOMPILER_TESTS_CPP_OPERANDS_H
#define PYCOMPILER_TESTS_CPP_OPERANDS_H

#include "cpu/Elements.h"
#include "runtime/Executable.h"

#include <atomic>
#include <complex>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

namespace test {

using pcrt::BFloat;
using pcrt::DType;
using pcrt::Half;
using Dims = std::vector<int64_t>;

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

template <typename T> constexpr DType dtypeOf = DType::Key;
template <> inline constexpr DType dtypeOf<int8_t> = DType::Int8;
template <> inline constexpr DType dtypeOf<int16_t> = DType::Int16;
template <> inline constexpr DType dtypeOf<int32_t> = DType::Int32;
template <> inline constexpr DType dtypeOf<int64_t> = DType::Int64;
template <> inline constexpr DType dtypeOf<uint8_t> = DType::UInt8;
template <> inline constexpr DType dtypeOf<uint16_t> = DType::UInt16;
template <> inline constexpr DType dtypeOf<uint32_t> = DType::UInt32;
template <> inline constexpr DType dtypeOf<uint64_t> = DType::UInt64;
template <> inline constexpr DType dtypeOf<Half> = DType::Float16;
template <> inline constexpr DType dtypeOf<BFloat> = DType::BFloat16;
template <> inline constexpr DType dtypeOf<float> = DType::Float32;
template <> inline constexpr DType dtypeOf<double> = DType::Float64;
template <> inline constexpr DType dtypeOf<std::complex<float>> = DType::Complex64;
template <> inline constexpr DType dtypeOf<std::complex<double>> = DType::Complex128;

inline int64_t sizeOf(const Dims &dims) {
  int64_t size = 1;
  for (int64_t dim : dims)
    size *= dim;
  return size;
}

/// Elements with their shape, in a block of exactly that size, so that AddressSanitizer detects accesses beyond it. An
/// output starts as sevens, which no test expects.
template <typename T> struct Operand {
  explicit Operand(Dims dims) : dims(std::move(dims)), values(static_cast<size_t>(sizeOf(this->dims)), T(7)) {}
  Operand(Dims dims, std::vector<T> values) : dims(std::move(dims)), values(std::move(values)) {}

  PcrtTensor as(DType dtype) {
    return {values.data(), dims.data(), static_cast<int32_t>(dims.size()), static_cast<int32_t>(dtype)};
  }
  operator PcrtTensor() { return as(dtypeOf<T>); }

  Dims dims;
  std::vector<T> values;
};

inline int32_t call(PcrtLibraryCall routine, std::vector<PcrtTensor> inputs, std::vector<PcrtTensor> outputs,
                    std::vector<int64_t> params = {}) {
  return routine(nullptr, inputs.data(), static_cast<int32_t>(inputs.size()), outputs.data(),
                 static_cast<int32_t>(outputs.size()), params.data());
}

/// Whether `body(thread)` holds in each of four threads that start together, repeatedly.
inline bool holdsConcurrently(const std::function<bool(int)> &body, int repetitions = 20) {
  constexpr int count = 4;
  std::atomic<int> arrived{0};
  std::atomic<bool> holds{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      arrived.fetch_add(1);
      while (arrived.load() < count)
        std::this_thread::yield();
      for (int i = 0; i < repetitions; ++i)
        if (!body(t))
          holds = false;
    });
  for (std::thread &thread : threads)
    thread.join();
  return holds;
}

} // namespace test

#endif // PYCOMPILER_TESTS_CPP_OPERANDS_H

// The accumulators of windows and their operations, here and in kernels (dialect/device).
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_WINDOWOPERATIONS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_WINDOWOPERATIONS_H

#include "Elements.h"

namespace pcrt::window {

/// One dimension of the windows: params hold `size, stride, low, base dilation, window dilation` for each.
struct WindowDim {
  int64_t size, stride, low, baseDilation, dilation;

  bool isTrivial() const { return size == 1 && stride == 1 && low == 0 && baseDilation == 1; }
  /// The element of window `o` at its position `k`; -1 for padding and gaps.
  int64_t source(int64_t o, int64_t k, int64_t length) const {
    int64_t place = o * stride + k * dilation - low;
    if (place < 0)
      return -1;
    if (baseDilation == 1)
      return place < length ? place : -1;
    return place % baseDilation == 0 && place / baseDilation < length ? place / baseDilation : -1;
  }
};

template <typename T> struct Sum {
  using Value = Accumulator<T>;
  static constexpr Value neutral = 0;
  static Value combine(Value a, Value b) { return a + b; }
};
template <typename T> struct Product {
  using Value = Accumulator<T>;
  static constexpr Value neutral = 1;
  static Value combine(Value a, Value b) { return a * b; }
};
template <typename T, bool isMax> struct Extremum {
  using Value = Compared<T>;
  static constexpr Value neutral = isMax ? lowestOf<Value>() : highestOf<Value>();
  static Value combine(Value best, Value x) { return isBetter<isMax>(x, best) ? x : best; }
};
template <typename T> using Max = Extremum<T, true>;
template <typename T> using Min = Extremum<T, false>;

} // namespace pcrt::window

#endif // PYCOMPILER_RUNTIME_LIB_CPU_WINDOWOPERATIONS_H

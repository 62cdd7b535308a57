// The combinations of cumsum, cumprod, cummax, cummin and cumlogsumexp, here and in kernels (dialect/device). Sums and
// products of f32 are accumulated in f64, of 16-bit floats in f32.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_CUMULATIVEOPERATIONS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_CUMULATIVEOPERATIONS_H

#include "Elements.h"

#include <cmath>
#include <complex>

namespace pcrt::cumulative {

// Running: the type of results that are not rounded yet. neutral: combined with x, it is x. isCheap: to combine each
// element twice costs less than to wait for the result before it.

template <typename T> struct WideOf {
  using Type = Accumulator<T>;
};
template <> struct WideOf<float> {
  using Type = double;
};
template <typename T> struct WideOf<std::complex<T>> {
  using Type = std::complex<double>;
};
template <typename T> using Wide = typename WideOf<T>::Type;

/// Changes no sum, not even -0.
template <typename T> inline constexpr T zeroOf = T(-0.0);
template <typename T> inline constexpr std::complex<T> zeroOf<std::complex<T>>{T(-0.0), T(-0.0)};

template <typename T> struct Sum {
  using Running = Wide<T>;
  static constexpr bool isCheap = true;
  static constexpr Running neutral = zeroOf<Running>;
  static Running combine(Running a, Running b) { return a + b; }
  static Running next(Running sum, T x) { return combine(sum, static_cast<Running>(x)); }
};

template <typename T> struct Product {
  using Running = Wide<T>;
  static constexpr bool isCheap = true;
  static constexpr Running neutral{1};
  static Running combine(Running a, Running b) { return a * b; }
  static Running next(Running product, T x) { return combine(product, static_cast<Running>(x)); }
};

template <typename T, bool isMax> struct Extremum {
  using Running = Compared<T>;
  static constexpr bool isCheap = true;
  static constexpr Running neutral = isMax ? lowestOf<Running>() : highestOf<Running>();
  static Running combine(Running best, Running value) { return isBetter<isMax>(value, best) ? value : best; }
  static Running next(Running best, T x) { return combine(best, static_cast<Running>(x)); }
};

template <typename T> using Max = Extremum<T, true>;
template <typename T> using Min = Extremum<T, false>;

template <typename T> struct LogSumExp {
  using Running = double;
  static constexpr bool isCheap = false;
  static constexpr double neutral = lowestOf<double>();
  static double combine(double sum, double value) {
    if (sum == value) // equal infinities have no difference
      return sum + std::log(2.0);
    return std::fmax(sum, value) + std::log1p(std::exp(-std::fabs(sum - value)));
  }
  static double next(double sum, T x) { return combine(sum, static_cast<double>(x)); }
};

} // namespace pcrt::cumulative

#endif // PYCOMPILER_RUNTIME_LIB_CPU_CUMULATIVEOPERATIONS_H

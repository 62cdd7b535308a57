// The elements of library calls' operands as C++ types: the 16-bit floats, the accumulator of each type, and the
// dispatch on an ABI dtype.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_ELEMENTS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_ELEMENTS_H

#include "runtime/DType.h"
#include "support/NarrowFloats.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace pcrt {

struct Half {
  uint16_t bits;
  Half() = default;
  Half(float value) : bits(static_cast<uint16_t>(floatToHalfBits(value))) {}
  operator float() const { return fromBits(halfToFloatBits(bits)); }
};

struct BFloat {
  uint16_t bits;
  BFloat() = default;
  BFloat(float value) : bits(static_cast<uint16_t>(floatToBFloat16Bits(value))) {}
  operator float() const { return fromBits(uint32_t(bits) << 16); }
};

template <typename T> constexpr bool isHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

/// The type for comparisons: float for the 16-bit floats.
template <typename T> using Compared = std::conditional_t<isHalf<T>, float, T>;

template <typename T, bool isInteger = std::is_integral_v<T>> struct AccumulatorOf {
  using Type = Compared<T>;
};
/// Unsigned, since sums and products wrap, and at least as wide as int, to which smaller types would be promoted.
template <typename T> struct AccumulatorOf<T, true> {
  using Type = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;
};
/// The type for sums and products of elements.
template <typename T> using Accumulator = typename AccumulatorOf<T>::Type;

/// The minimum and the maximum of an ordered type; infinities for floats.
template <typename T> constexpr T lowestOf() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <typename T> constexpr T highestOf() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

/// Whether x replaces `best` in a search for the extremum: a nan does, unless `best` is one already.
template <bool isMax, typename T> bool isBetter(T x, T best) {
  if constexpr (std::is_floating_point_v<T>)
    return (isMax ? x > best : x < best) || (x != x && best == best);
  else
    return isMax ? x > best : x < best;
}

inline bool sameDims(const PcrtTensor &a, const PcrtTensor &b) {
  return a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

/// Calls `function` with a value of the element type. Returns false for a dtype that is neither numeric nor bool.
template <typename Function> bool withElement(int32_t dtype, Function function) {
  switch (static_cast<DType>(dtype)) {
  case DType::Int8:
    return function(int8_t()), true;
  case DType::Int16:
    return function(int16_t()), true;
  case DType::Int32:
    return function(int32_t()), true;
  case DType::Int64:
    return function(int64_t()), true;
  case DType::Bool:
  case DType::UInt8:
    return function(uint8_t()), true;
  case DType::UInt16:
    return function(uint16_t()), true;
  case DType::UInt32:
    return function(uint32_t()), true;
  case DType::UInt64:
    return function(uint64_t()), true;
  case DType::Float16:
    return function(Half()), true;
  case DType::BFloat16:
    return function(BFloat()), true;
  case DType::Float32:
    return function(float()), true;
  case DType::Float64:
    return function(double()), true;
  default:
    return false;
  }
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_ELEMENTS_H

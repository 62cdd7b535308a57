// Shared parts of sort and top_k: the lines along one dimension, and their elements as keys, unsigned integers of the
// same order. Floats order as in NumPy and XLA: nan last, -0 equal to +0.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_SORTKEYS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_SORTKEYS_H

#include "runtime/Abi.h"
#include "runtime/DType.h"

#include <type_traits>

namespace pcrt {

/// The layout of a line along the sorted dimension, and the number of lines.
struct Lines {
  int64_t length = 1, stride = 1, outer = 1;

  Lines(const PcrtTensor &tensor, int64_t dimension) {
    length = tensor.dims[dimension];
    for (int64_t i = 0; i < dimension; ++i)
      outer *= tensor.dims[i];
    for (int64_t i = dimension + 1; i < tensor.rank; ++i)
      stride *= tensor.dims[i];
  }
  int64_t count() const { return outer * stride; }
  int64_t start(int64_t line) const { return (line / stride) * length * stride + line % stride; }
};

/// The sign bit of a number as wide as Bits.
template <typename Bits> constexpr Bits signBit = static_cast<Bits>(Bits(1) << (8 * sizeof(Bits) - 1));

/// Keys of unsigned integers are their bits.
template <typename BitsOf> struct UnsignedKey {
  using Bits = BitsOf;
  static constexpr bool isFloat = false, isSigned = false;
  static Bits key(Bits bits) { return bits; }
  static Bits bits(Bits key) { return key; }
};

template <typename BitsOf> struct SignedKey {
  using Bits = BitsOf;
  static constexpr bool isFloat = false, isSigned = true;
  static Bits key(Bits bits) { return bits ^ signBit<Bits>; }
  static Bits bits(Bits key) { return key ^ signBit<Bits>; }
};

/// One key represents both zeros, and one all nans: these cannot be recovered from their keys. There are no branches
/// and only signed comparisons, so that loops over keys are vectorized even for the baseline of a machine.
template <typename BitsOf, BitsOf infinity> struct FloatKey {
  using Bits = BitsOf;
  using Signed = std::make_signed_t<Bits>;
  static constexpr bool isFloat = true;
  static Signed magnitude(Bits bits) { return static_cast<Signed>(bits & ~signBit<Bits>); }
  static bool isNan(Bits bits) { return magnitude(bits) > static_cast<Signed>(infinity); }
  static bool isZero(Bits bits) { return magnitude(bits) == 0; }
  /// The key has other bits.
  static bool isLost(Bits bits) { return (bits == signBit<Bits>) | isNan(bits); }

  static Bits key(Bits bits) {
    auto negative = static_cast<Bits>(static_cast<Signed>(bits) >> (8 * sizeof(Bits) - 1));
    auto ordered = static_cast<Bits>(bits ^ (negative | signBit<Bits>));
    ordered = isZero(bits) ? signBit<Bits> : ordered;
    return isNan(bits) ? static_cast<Bits>(~Bits(0)) : ordered;
  }
  static Bits bits(Bits key) {
    auto positive = static_cast<Bits>(static_cast<Signed>(key) >> (8 * sizeof(Bits) - 1));
    return static_cast<Bits>(key ^ (~positive | signBit<Bits>));
  }
};

/// Calls `call` with the keys of a dtype; false for dtypes without keys.
template <typename Call> bool withKeys(int32_t dtype, Call call) {
  switch (static_cast<DType>(dtype)) {
  case DType::Bool:
  case DType::UInt8:
    return call(UnsignedKey<uint8_t>()), true;
  case DType::UInt16:
    return call(UnsignedKey<uint16_t>()), true;
  case DType::UInt32:
    return call(UnsignedKey<uint32_t>()), true;
  case DType::UInt64:
    return call(UnsignedKey<uint64_t>()), true;
  case DType::Int8:
    return call(SignedKey<uint8_t>()), true;
  case DType::Int16:
    return call(SignedKey<uint16_t>()), true;
  case DType::Int32:
    return call(SignedKey<uint32_t>()), true;
  case DType::Int64:
    return call(SignedKey<uint64_t>()), true;
  case DType::Float16:
    return call(FloatKey<uint16_t, 0x7c00>()), true;
  case DType::BFloat16:
    return call(FloatKey<uint16_t, 0x7f80>()), true;
  case DType::Float32:
    return call(FloatKey<uint32_t, 0x7f800000>()), true;
  case DType::Float64:
    return call(FloatKey<uint64_t, 0x7ff0000000000000>()), true;
  default:
    return false;
  }
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPU_SORTKEYS_H

// Halves and bfloat16s as bit patterns, to and from float, rounded to nearest even.
#ifndef PYCOMPILER_RUNTIME_LIB_NARROWFLOATS_H
#define PYCOMPILER_RUNTIME_LIB_NARROWFLOATS_H

#include <cstdint>
#include <cstring>

namespace pcrt {

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t halfToFloatBits(uint32_t half) {
  uint32_t sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 0x1f, mantissa = half & 0x3ff;
  if (exponent == 0x1f)
    return sign | 0x7f800000u | (mantissa << 13) | (mantissa ? 0x400000u : 0);
  if (exponent == 0)
    return sign | bitsOf(static_cast<float>(mantissa) * 0x1p-24f);
  return sign | ((exponent + 112) << 23) | (mantissa << 13);
}

inline uint32_t floatToHalfBits(float value) {
  uint32_t bits = bitsOf(value), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu);
  if (magnitude >= 0x477ff000u) // rounds to 65536 or more
    return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {
    // Subnormal: the addition rounds to a multiple of 2^-24, to nearest even.
    float shifted = fromBits(magnitude) + 0.5f;
    return sign | (bitsOf(shifted) - bitsOf(0.5f));
  }
  return sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1)) >> 13);
}

inline uint32_t floatToBFloat16Bits(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return (bits >> 16) | 0x40u;
  return (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
}

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_NARROWFLOATS_H

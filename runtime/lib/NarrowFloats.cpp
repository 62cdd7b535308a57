// The compiler helpers that convert halves and bfloat16s, under the names by which back ends call them: not every
// compiler's support library has them all (GCC 12 lacks the bfloat16 ones). They stay inside this library.
#include <cstdint>
#include <cstring>

// A half is the low 16 bits of a floating-point register, on x86-64 and aarch64 alike: a float parameter or result
// whose low bits hold it has the same calling convention as the type that C++17 does not have.

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Rounds `value` to a float such that rounding that one again to fewer bits is the same as rounding `value` directly:
/// rounded to odd.
static float roundToOdd(double value) {
  auto narrow = static_cast<float>(value);
  if (!(narrow == narrow) || static_cast<double>(narrow) == value)
    return narrow;
  uint32_t bits = bitsOf(narrow);
  double magnitude = value < 0 ? -value : value, narrowMagnitude = narrow < 0 ? -narrow : narrow;
  // Towards zero first, then the last bit set for what was lost.
  if (narrowMagnitude > magnitude)
    --bits;
  return fromBits(bits | 1);
}

static uint32_t halfToFloatBits(uint32_t half) {
  uint32_t sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 0x1f, mantissa = half & 0x3ff;
  if (exponent == 0x1f)
    return sign | 0x7f800000u | (mantissa << 13) | (mantissa ? 0x400000u : 0);
  if (exponent == 0)
    return sign | bitsOf(static_cast<float>(mantissa) * 0x1p-24f);
  return sign | ((exponent + 112) << 23) | (mantissa << 13);
}

static uint32_t floatToHalfBits(float value) {
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

static uint32_t floatToBFloat16Bits(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return (bits >> 16) | 0x40u;
  return (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
}

extern "C" {
float __extendhfsf2(float half) { return fromBits(halfToFloatBits(bitsOf(half) & 0xffffu)); }
float __truncsfhf2(float value) { return fromBits(floatToHalfBits(value)); }
float __truncdfhf2(double value) { return fromBits(floatToHalfBits(roundToOdd(value))); }
float __truncsfbf2(float value) { return fromBits(floatToBFloat16Bits(value)); }
float __truncdfbf2(double value) { return fromBits(floatToBFloat16Bits(roundToOdd(value))); }
}

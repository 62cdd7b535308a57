// The compiler helpers that convert halves and bfloat16s, under the names by which back ends call them: not every
// compiler's support library has them all (GCC 12 lacks the bfloat16 ones). They stay inside this library.
#include "support/NarrowFloats.h"

using namespace pcrt;

// A half is the low 16 bits of a floating-point register, on x86-64 and aarch64 alike: a float parameter or result
// whose low bits hold it has the same calling convention as the type that C++17 does not have.

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

extern "C" {
float __extendhfsf2(float half) { return fromBits(halfToFloatBits(bitsOf(half) & 0xffffu)); }
float __truncsfhf2(float value) { return fromBits(floatToHalfBits(value)); }
float __truncdfhf2(double value) { return fromBits(floatToHalfBits(roundToOdd(value))); }
float __truncsfbf2(float value) { return fromBits(floatToBFloat16Bits(value)); }
float __truncdfbf2(double value) { return fromBits(floatToBFloat16Bits(roundToOdd(value))); }
}

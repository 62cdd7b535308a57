// The compiler's helper functions that convert halves and bfloat16s, under the names that back ends call: some
// compilers' support libraries lack some of them (GCC 12 lacks the bfloat16 ones). They are not exported from this
// library.
#include "support/NarrowFloats.h"

using namespace pcrt;

// A half is in the low 16 bits of a floating-point register, on x86-64 and aarch64: a float parameter or result with
// the half in its low bits has the same calling convention as the type, which C++17 lacks.

/// Rounds `value` to a float such that a second rounding, to fewer bits, equals a direct rounding of `value`: rounded
/// to odd.
static float roundToOdd(double value) {
  auto narrow = static_cast<float>(value);
  if (!(narrow == narrow) || static_cast<double>(narrow) == value)
    return narrow;
  uint32_t bits = bitsOf(narrow);
  double magnitude = value < 0 ? -value : value, narrowMagnitude = narrow < 0 ? -narrow : narrow;
  // First towards zero, then with the last bit set if it is inexact.
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

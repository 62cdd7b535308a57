// The conversions of halves and bfloat16s that compiled code calls, compared with a search among all values of the
// format.
#include "Check.h"
#include "runtime/Executable.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace pcrt;

template <typename To, typename From> static To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// A half travels in the low bits of a floating-point register.
template <typename From> static uint16_t narrow(const char *symbol, From value) {
  auto function = reinterpret_cast<float (*)(From)>(findSymbol(symbol));
  return static_cast<uint16_t>(bitCast<uint32_t>(function(value)));
}

static float widen(uint16_t half) {
  auto function = reinterpret_cast<float (*)(float)>(findSymbol("__extendhfsf2"));
  return function(bitCast<float>(0xabcd0000u | half)); // the high bits are ignored
}

static double halfValue(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude = exponent ? std::ldexp(1024.0 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static double bfloat16Value(uint16_t bits) { return bitCast<float>(static_cast<uint32_t>(bits) << 16); }

/// The nearest value of a format, ties to even; values half a step or more beyond the largest are infinite.
static uint16_t nearest(double value, uint16_t infinity, double (*valueOf)(uint16_t)) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  uint16_t low = 0, high = infinity; // as if the exponents went on, infinity is the next value
  while (high - low > 1) {
    auto middle = static_cast<uint16_t>((low + high) / 2);
    (valueOf(middle) <= magnitude ? low : high) = middle;
  }
  double below = valueOf(low), above = high == infinity ? below + (below - valueOf(low - 1)) : valueOf(high);
  if (magnitude - below > above - magnitude || (magnitude - below == above - magnitude && low % 2))
    low = high;
  return sign | low;
}

static std::vector<double> samples(double (*valueOf)(uint16_t), uint16_t infinity) {
  std::vector<double> values = {0.0, -0.0, 1e-300, -1e-300, 1e300};
  std::mt19937_64 random(3);
  for (uint16_t bits = 0; bits < infinity; ++bits) {
    double value = valueOf(bits), next = bits + 1 < infinity ? valueOf(bits + 1) : 2 * value - valueOf(bits - 1);
    double middle = value + (next - value) / 2;
    for (double x :
         {value, middle, std::nextafter(middle, 0.0), std::nextafter(middle, next), value + (next - value) * 0.3})
      values.push_back(random() % 2 ? x : -x);
  }
  return values;
}

static void halves() {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float wide = widen(static_cast<uint16_t>(bits));
    if ((bits & 0x7fff) > 0x7c00)
      CHECK(std::isnan(wide));
    else if ((bits & 0x7fff) == 0x7c00)
      CHECK(std::isinf(wide) && std::signbit(wide) == (bits >> 15));
    else
      CHECK(static_cast<double>(wide) == halfValue(static_cast<uint16_t>(bits)) && std::signbit(wide) == (bits >> 15));
    if (!std::isnan(wide))
      CHECK(narrow("__truncsfhf2", wide) == bits);
  }
  for (double value : samples(halfValue, 0x7c00)) {
    CHECK(narrow("__truncdfhf2", value) == nearest(value, 0x7c00, halfValue));
    auto single = static_cast<float>(value);
    if (std::isfinite(single))
      CHECK(narrow("__truncsfhf2", single) == nearest(single, 0x7c00, halfValue));
  }
}

static void bfloat16s() {
  for (double value : samples(bfloat16Value, 0x7f80)) {
    CHECK(narrow("__truncdfbf2", value) == nearest(value, 0x7f80, bfloat16Value));
    auto single = static_cast<float>(value);
    if (std::isfinite(single))
      CHECK(narrow("__truncsfbf2", single) == nearest(single, 0x7f80, bfloat16Value));
  }
}

static void specials() {
  float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(narrow("__truncsfhf2", infinity) == 0x7c00 && narrow("__truncsfhf2", -infinity) == 0xfc00);
  CHECK(narrow("__truncsfbf2", infinity) == 0x7f80 && narrow("__truncsfbf2", -infinity) == 0xff80);
  // A nan whose payload is in the dropped bits must not become infinite.
  float quietLow = bitCast<float>(0x7f800001u);
  CHECK((narrow("__truncsfhf2", quietLow) & 0x7fff) > 0x7c00 && (narrow("__truncsfbf2", quietLow) & 0x7fff) > 0x7f80);
  CHECK((narrow<double>("__truncdfhf2", nan) & 0x7fff) > 0x7c00 &&
        (narrow<double>("__truncdfbf2", nan) & 0x7fff) > 0x7f80);
}

int main() {
  RUN(halves);
  RUN(bfloat16s);
  RUN(specials);
  return test::failures() != 0;
}

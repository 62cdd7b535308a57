// Compares element by element, and reports the differences.
#include "Compare.h"

#include "llvm/Support/Format.h"
#include <cmath>

using namespace arrayrun;

static constexpr int64_t mostPlaces = 10;

static bool isCloseTo(double x, double expected, Tolerance tolerance) {
  if (std::isnan(x) || std::isnan(expected))
    return std::isnan(x) && std::isnan(expected);
  if (std::isinf(x) || std::isinf(expected))
    return x == expected;
  return std::abs(x - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

static bool isClose(const ElementType &type, const char *x, const char *expected, Tolerance tolerance) {
  if (!type.isInexact())
    return type.loadInteger(x) == type.loadInteger(expected);
  std::complex<double> a = type.loadNumber(x), b = type.loadNumber(expected);
  if (!type.isComplex())
    return isCloseTo(a.real(), b.real(), tolerance);
  // Complex numbers are compared by their distance in the plane, unless a part is not finite.
  bool isFinite =
      std::isfinite(a.real()) && std::isfinite(a.imag()) && std::isfinite(b.real()) && std::isfinite(b.imag());
  if (isFinite)
    return std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b);
  return isCloseTo(a.real(), b.real(), tolerance) && isCloseTo(a.imag(), b.imag(), tolerance);
}

/// "[0,2]" of the element of this number.
static std::string placeOf(int64_t number, const std::vector<int64_t> &shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t d = shape.size(); d-- > 0; number /= shape[d])
    place[d] = number % shape[d];
  return describeShape(place);
}

bool arrayrun::compare(const Array &result, const Array &expected, Tolerance tolerance, llvm::StringRef name,
                       llvm::raw_ostream &os) {
  const ElementType &type = result.type.element;
  std::string places;
  llvm::raw_string_ostream lines(places);
  int64_t differing = 0, count = result.type.count();
  for (int64_t i = 0; i < count; ++i) {
    if (isClose(type, result.at(i), expected.at(i), tolerance))
      continue;
    if (++differing > mostPlaces)
      continue;
    lines << "  at " << placeOf(i, result.type.shape) << ": ";
    type.print(result.at(i), lines);
    lines << ", expected ";
    type.print(expected.at(i), lines);
    lines << '\n';
  }
  if (differing == 0)
    return true;
  os << name << " differs from what is expected in " << differing << " of " << count << " elements";
  if (type.isInexact())
    os << llvm::format(" (rtol=%g, atol=%g)", tolerance.relative, tolerance.absolute);
  os << ":\n" << places;
  if (differing > mostPlaces)
    os << "  and " << differing - mostPlaces << " more\n";
  return false;
}

// Texts of errors.
#include "runtime/Status.h"

#include <cstdio>

using namespace pcrt;

std::string Error::places() const {
  std::string result = site.place.empty() ? "" : "at " + site.place;
  if (!place.empty())
    result += (result.empty() ? "launched at " : ", launched at ") + place;
  return result;
}

std::string Error::text() const {
  std::string result = executable.empty() ? "" : executable + ": ";
  // A single operator is an executable with the operator's name.
  if (!site.primitive.empty() && site.primitive != executable)
    result += site.primitive + ": ";
  std::string where = places();
  return result + message + (where.empty() ? "" : " (" + where + ")");
}

std::string pcrt::formatBytes(uint64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

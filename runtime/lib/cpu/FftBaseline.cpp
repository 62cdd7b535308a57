// Transforms in the vectors of the baseline, and the choice between the instruction sets.
#include "FftPocket.h"

#define PCRT_FFT_TABLES tablesBaseline
#include "FftEntries.h"

namespace pcrt::fft {

namespace {

const Tables &widest() {
#ifdef PCRT_HAS_WIDE_FFT
  static const Tables &tables = __builtin_cpu_supports("avx2") ? tablesAvx2 : tablesBaseline;
  return tables;
#else
  return tablesBaseline;
#endif
}

const Passes<float> &of(const Tables &tables, float) { return tables.ofFloat; }
const Passes<double> &of(const Tables &tables, double) { return tables.ofDouble; }

/// In the times of one line.
double timeOf(size_t lines, size_t lanes) {
  constexpr double timeOfVector = 1.2;
  return static_cast<double>(lines / lanes) * timeOfVector + static_cast<double>(lines % lanes);
}

} // namespace

size_t mostLanes() { return widest().ofFloat.lanes; }

template <typename T> const Passes<T> &passesFor(size_t lines) {
  const Passes<T> &narrow = of(tablesBaseline, T()), &wide = of(widest(), T());
  return timeOf(lines, wide.lanes) < timeOf(lines, narrow.lanes) ? wide : narrow;
}
template const Passes<float> &passesFor(size_t);
template const Passes<double> &passesFor(size_t);

} // namespace pcrt::fft

// Transforms in the vectors of the baseline, and the choice of the instruction set.
#include "FftPocket.h"

#include <algorithm>
#include <cstring>

#define PCRT_FFT_TABLES tablesBaseline
#include "FftEntries.h"

namespace pcrt::fft {

static const Tables &widest() {
#ifdef PCRT_HAS_WIDE_FFT
  static const Tables &tables = __builtin_cpu_supports("avx2") ? tablesAvx2 : tablesBaseline;
  return tables;
#else
  return tablesBaseline;
#endif
}

template <> const Passes<float> &passes() { return widest().ofFloat; }
template <> const Passes<double> &passes() { return widest().ofDouble; }

} // namespace pcrt::fft

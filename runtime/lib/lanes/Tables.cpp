// The library is built for the baseline; code for wider vectors is chosen at run time.
#include "lanes/Tables.h"

using namespace pcrt::lanes;

static const Tables &best() {
#ifdef PCRT_HAS_WIDE_LANES
  static const Tables &tables = __builtin_cpu_supports("x86-64-v4")   ? tablesAvx512
                                : __builtin_cpu_supports("x86-64-v3") ? tablesAvx2
                                                                      : tablesBaseline;
  return tables;
#else
  return tablesBaseline;
#endif
}

template <> const SmallMatrices<float> &pcrt::lanes::smallMatrices<float>() { return best().ofFloat; }
template <> const SmallMatrices<double> &pcrt::lanes::smallMatrices<double>() { return best().ofDouble; }

// The routines for each instruction set.
#ifndef PYCOMPILER_RUNTIME_LIB_LANES_TABLES_H
#define PYCOMPILER_RUNTIME_LIB_LANES_TABLES_H

#include "lanes/SmallMatrices.h"

namespace pcrt::lanes {

struct Tables {
  SmallMatrices<float> ofFloat;
  SmallMatrices<double> ofDouble;
};

extern const Tables tablesBaseline, tablesAvx2, tablesAvx512;

} // namespace pcrt::lanes

#endif // PYCOMPILER_RUNTIME_LIB_LANES_TABLES_H

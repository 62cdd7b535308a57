// The common start of the files that compile x86-simd-sort for an instruction set.
//
// Nothing else may be compiled for it, because the linker takes any one of several copies of an inline function. So the
// standard headers come before the pragma, and the library's own functions get distinct names.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_SORTWORDSVECTOR_H
#define PYCOMPILER_RUNTIME_LIB_CPU_SORTWORDSVECTOR_H

#include "SortWords.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdlib.h>
#include <utility>
#include <vector>

#ifdef PCRT_HAS_VECTOR_SORT
#include <immintrin.h>
#endif

#endif // PYCOMPILER_RUNTIME_LIB_CPU_SORTWORDSVECTOR_H

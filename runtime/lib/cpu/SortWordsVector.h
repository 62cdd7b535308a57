// What the files that compile x86-simd-sort for an instruction set begin with.
//
// Nothing else may be compiled for it, as the linker takes one of several copies of an inline function, whichever file
// it is from: the standard headers come before the pragma, and the library's own functions get names of their own.
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

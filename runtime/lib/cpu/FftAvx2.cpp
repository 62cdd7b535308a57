// Transforms in vectors of 32 bytes. No file of the library is compiled for AVX2 as a whole: shared functions of the
// C++ library would also be compiled for AVX2, and the linker keeps one copy of each. So their headers come first.
#include "FftPasses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>

#pragma GCC push_options
#pragma GCC target("avx2")
// GCC preprocesses the whole file before it applies the pragma. So GCC's own macro is defined too late for pocketfft,
// which takes the number of lanes from it.
#ifndef __AVX__
#define __AVX__ 1
#endif
#define pocketfft pocketfftAvx2
#include "FftPocket.h"

#define PCRT_FFT_TABLES tablesAvx2
#include "FftEntries.h"
static_assert(lanes<float> == 8 && lanes<double> == 4, "the vectors are not those of AVX2");
#pragma GCC pop_options

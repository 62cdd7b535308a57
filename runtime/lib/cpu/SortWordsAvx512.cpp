// Sorting with AVX-512: x86-simd-sort, compiled for it.
//
// Nothing else may be compiled for it, as the linker takes one of several copies of an inline function, whichever file
// it is from: the standard headers come before the pragma, and the library's own functions get names of their own.
#include "SortWords.h"

// GCC applies the pragma to templates; Clang does not know it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <limits>
#include <numeric>
#include <stdlib.h>
#include <utility>
#include <vector>

// The vectors of half the width, which the file for AVX2 has as well.
#define avx2_vector avx512_half_of_vector
#define avx2_half_vector avx512_quarter_of_vector

#pragma GCC push_options
#pragma GCC target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2,lzcnt,movbe,popcnt,f16c")

// The order matters: the headers do not include what they use.
#include "x86-simd-sort/xss-common-includes.h"

#include "x86-simd-sort/xss-common-qsort.h"
#include "x86-simd-sort/xss-network-keyvaluesort.hpp"

#include "x86-simd-sort/avx512-32bit-qsort.hpp"
#include "x86-simd-sort/avx512-64bit-common.h"

namespace {

void sort32(uint32_t *words, size_t count) { avx512_qsort(words, count); }
void sort64(uint64_t *words, size_t count) { avx512_qsort(words, count); }
void sortI32(int32_t *numbers, size_t count) { avx512_qsort(numbers, count); }
void sortI64(int64_t *numbers, size_t count) { avx512_qsort(numbers, count); }
void sortF32(float *numbers, size_t count) { avx512_qsort(numbers, count); }
void sortF64(double *numbers, size_t count) { avx512_qsort(numbers, count); }
void select64(uint64_t *words, size_t rank, size_t count) { avx512_qselect(words, rank, count); }

} // namespace

#pragma GCC pop_options

const pcrt::VectorSort pcrt::vectorSortAvx512 = {sort32, sort64, sortI32, sortI64, sortF32, sortF64, select64};
#endif

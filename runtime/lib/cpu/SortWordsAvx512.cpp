// Sorting with AVX-512: x86-simd-sort, compiled for it (SortWordsVector.h).
#include "SortWordsVector.h"

#ifdef PCRT_HAS_VECTOR_SORT

// The vectors of half the width, which the file for AVX2 has as well.
#define avx2_vector avx512_half_of_vector
#define avx2_half_vector avx512_quarter_of_vector

#pragma GCC push_options
#pragma GCC target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2,lzcnt,movbe,popcnt,f16c")

// The order matters: the headers do not include their dependencies.
#include "x86-simd-sort/xss-common-includes.h"

#include "x86-simd-sort/xss-common-qsort.h"
#include "x86-simd-sort/xss-network-keyvaluesort.hpp"

#include "x86-simd-sort/avx512-32bit-qsort.hpp"
#include "x86-simd-sort/avx512-64bit-common.h"

#define VECTOR_SORT avx512_qsort
#define VECTOR_SELECT avx512_qselect
#include "SortWordsEntries.inc"

#pragma GCC pop_options

const pcrt::VectorSort pcrt::vectorSortAvx512 = entries;
#endif

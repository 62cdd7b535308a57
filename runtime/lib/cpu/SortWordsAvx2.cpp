// Sorting with AVX2: x86-simd-sort, compiled for it (SortWordsVector.h).
#include "SortWordsVector.h"

#ifdef PCRT_HAS_VECTOR_SORT

#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,movbe,popcnt,f16c")

// The order matters: the headers do not include their dependencies.
#include "x86-simd-sort/xss-common-includes.h"

#include "x86-simd-sort/xss-common-qsort.h"
#include "x86-simd-sort/xss-network-keyvaluesort.hpp"

#include "x86-simd-sort/avx2-32bit-qsort.hpp"
#include "x86-simd-sort/avx2-64bit-qsort.hpp"

#define VECTOR_SORT avx2_qsort
#define VECTOR_SELECT avx2_qselect
#include "SortWordsEntries.inc"

#pragma GCC pop_options

const pcrt::VectorSort pcrt::vectorSortAvx2 = entries;
#endif

// Sorting with AVX-512: x86-simd-sort, compiled for it (SortWordsVector.h).
#include "SortWordsVector.h"

#ifdef PCRT_HAS_VECTOR_SORT

// The vectors of half the width, which the file for AVX2 has as well.
#define avx2_vector avx512_half_of_vector
#define avx2_half_vector avx512_quarter_of_vector

#pragma GCC push_options
#pragma GCC target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2,lzcnt,movbe,popcnt,f16c")

// A compressing store to memory is microcode on AMD's Zen 4, some hundred cycles. A compression in a register, and a
// masked store, take a few everywhere.
#define PCRT_COMPRESS(width, type, mask, to, kept, x)                                                                  \
  width##_mask_storeu_##type(to, static_cast<mask>(_bzhi_u32(~0u, static_cast<unsigned>(_mm_popcnt_u32(kept)))),       \
                             width##_maskz_compress_##type(kept, x))
#define _mm512_mask_compressstoreu_epi32(to, kept, x) PCRT_COMPRESS(_mm512, epi32, __mmask16, to, kept, x)
#define _mm512_mask_compressstoreu_ps(to, kept, x) PCRT_COMPRESS(_mm512, ps, __mmask16, to, kept, x)
#define _mm512_mask_compressstoreu_epi64(to, kept, x) PCRT_COMPRESS(_mm512, epi64, __mmask8, to, kept, x)
#define _mm512_mask_compressstoreu_pd(to, kept, x) PCRT_COMPRESS(_mm512, pd, __mmask8, to, kept, x)
#define _mm256_mask_compressstoreu_epi32(to, kept, x) PCRT_COMPRESS(_mm256, epi32, __mmask8, to, kept, x)
#define _mm256_mask_compressstoreu_ps(to, kept, x) PCRT_COMPRESS(_mm256, ps, __mmask8, to, kept, x)

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

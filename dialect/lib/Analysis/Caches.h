// The caches of the machine that compiles, which is the one that runs: sizes of blocks follow from them. They are no
// part of a result's order of summation, so that machines of one instruction set compute the same bits.
#ifndef ARRAY_LIB_ANALYSIS_CACHES_H
#define ARRAY_LIB_ANALYSIS_CACHES_H

#include <cstdint>

namespace mlir::array {

/// Of memory, as addresses are translated and caches are filled.
inline constexpr int64_t kPageBytes = 4096, kLineBytes = 64;

/// Bytes of a core's second data cache; 1 MiB where the system does not tell.
int64_t secondCacheBytes();

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_CACHES_H

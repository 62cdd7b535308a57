// The caches of the machine that compiles, which is also the one that runs. Block sizes follow from them. The order of
// summation does not depend on them, so machines with the same instruction set compute the same bits.
#ifndef ARRAY_LIB_ANALYSIS_CACHES_H
#define ARRAY_LIB_ANALYSIS_CACHES_H

#include <cstdint>

namespace mlir::array {

/// Units of address translation and of cache fills.
inline constexpr int64_t kPageBytes = 4096, kLineBytes = 64;

/// Bytes of a core's second data cache; 1 MiB if the system does not report it. array-opt's option
/// --second-cache-bytes names another machine's, so that a test's IR does not depend on the machine.
int64_t secondCacheBytes();

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_CACHES_H

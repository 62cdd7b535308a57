// Queries the system for the sizes of the caches, once.
#include "Caches.h"

#include <unistd.h>

namespace mlir::array {

int64_t secondCacheBytes() {
  static const int64_t bytes = [] {
    constexpr int64_t assumed = 1 << 20;
#ifdef _SC_LEVEL2_CACHE_SIZE
    int64_t told = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return told > 0 ? told : assumed;
#else
    return assumed;
#endif
  }();
  return bytes;
}

} // namespace mlir::array

// Queries the system for the sizes of the caches, once.
#include "Caches.h"

#include "llvm/Support/CommandLine.h"
#include <unistd.h>

static llvm::cl::opt<int64_t> namedBytes("second-cache-bytes", llvm::cl::Hidden, llvm::cl::init(0),
                                         llvm::cl::desc("Bytes of a core's second data cache (this machine's)"));

namespace mlir::array {

int64_t secondCacheBytes() {
  if (namedBytes > 0)
    return namedBytes;
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

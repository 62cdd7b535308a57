// The interface of a device's memory pool, with the statistics of every device's memory. After Buffer; each Device has
// one, of its kind.
#ifndef PYCOMPILER_RUNTIME_BUFFERPOOL_H
#define PYCOMPILER_RUNTIME_BUFFERPOOL_H

#include "runtime/Buffer.h"

#include <vector>

namespace pcrt {

/// The peak is exact for large blocks; the part of small ones is an upper bound (the sum of each class's own peak).
struct MemoryStatistics {
  uint64_t liveBytes, peakBytes, cachedBytes, liveBuffers;
  /// Since the start of the process: the number of allocations, and the bytes of the largest block.
  uint64_t allocations, largestBytes;
};

/// A block in use: its requested bytes, and its note.
struct LiveBlock {
  uint64_t bytes;
  std::string made;
};

class BufferPool : public BufferOwner {
public:
  BufferPool() = default;
  virtual ~BufferPool() = default;
  BufferPool(const BufferPool &) = delete;
  BufferPool &operator=(const BufferPool &) = delete;

  /// OutOfMemory names the size, and the live memory.
  virtual Result<RefPtr<Buffer>> allocate(size_t bytes) = 0;
  /// Whether `allocate` costs little: it would take a freed block, and no new memory of the system.
  virtual bool hasFreed(size_t bytes) = 0;
  /// Returns freed blocks to the system. Otherwise they are kept for the next call.
  virtual void trim() = 0;
  virtual MemoryStatistics statistics() = 0;
  virtual void resetPeak() = 0;
  /// The default and the current limit of live bytes. Live memory stays valid if the limit changes.
  virtual uint64_t defaultLimit() const = 0;
  virtual uint64_t limit() = 0;
  virtual void setLimit(uint64_t bytes) = 0;

  /// From this size on, a block gets a note of the operation that made it.
  static constexpr size_t listedBytes = size_t(1) << 20;
  /// Notes the contents of a buffer of this pool, of at least `listedBytes`, and the operation that made it, for
  /// errors.
  virtual void note(Buffer &buffer, std::string made) = 0;
  /// The largest of the listed blocks in use.
  virtual std::vector<LiveBlock> largest(size_t count) = 0;

  /// Around fork(), so that no thread that the child lacks holds a lock.
  virtual void beforeFork() = 0;
  virtual void afterFork() = 0;

protected:
  /// For pools that keep no buffers: creates and destroys a header over a block.
  Buffer *makeHeader(Device *device, void *memory, size_t bytes);
  static void deleteHeader(Buffer *buffer) { delete buffer; }
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_BUFFERPOOL_H

// What a device's memory is had from: an interface, with what is said of every device's memory. After Buffer; Device
// has one, of its kind.
#ifndef PYCOMPILER_RUNTIME_BUFFERPOOL_H
#define PYCOMPILER_RUNTIME_BUFFERPOOL_H

#include "runtime/Buffer.h"

#include <vector>

namespace pcrt {

/// The peak is exact for large blocks; what small ones add to it is an upper bound (the sum of each class's own peak).
struct MemoryStatistics {
  uint64_t liveBytes, peakBytes, cachedBytes, liveBuffers;
  /// Since the process began: how many allocations there were, and the bytes of the largest block.
  uint64_t allocations, largestBytes;
};

/// A block that is in use: its bytes as asked for, and what was said of it.
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

  /// OutOfMemory names the size, and what is live.
  virtual Result<RefPtr<Buffer>> allocate(size_t bytes) = 0;
  /// Gives freed blocks back to the system. They are kept for the next call otherwise.
  virtual void trim() = 0;
  virtual MemoryStatistics statistics() = 0;
  virtual void resetPeak() = 0;
  /// How many bytes may be live: at first, and now. What is live already stays when that changes.
  virtual uint64_t defaultLimit() const = 0;
  virtual uint64_t limit() = 0;
  virtual void setLimit(uint64_t bytes) = 0;

  /// From this size on, a block is worth a note of who made it.
  static constexpr size_t listedBytes = size_t(1) << 20;
  /// Says of a buffer of this pool, of at least `listedBytes`, what it holds and who made it, for errors.
  virtual void note(Buffer &buffer, std::string made) = 0;
  /// The largest blocks in use, of those that are listed.
  virtual std::vector<LiveBlock> largest(size_t count) = 0;

  /// Around fork(), so that no lock is held by a thread that the child does not have.
  virtual void beforeFork() = 0;
  virtual void afterFork() = 0;

protected:
  /// For pools that keep no buffers: a header over a block, and its end.
  Buffer *makeHeader(Device *device, void *memory, size_t bytes);
  static void deleteHeader(Buffer *buffer) { delete buffer; }
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_BUFFERPOOL_H

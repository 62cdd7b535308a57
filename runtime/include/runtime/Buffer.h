// Memory of arrays: counted buffers from a pool that keeps freed blocks for the next call. A buffer also holds the
// token of the execution that fills it. After Token; before Stream and Executable.
#ifndef PYCOMPILER_RUNTIME_BUFFER_H
#define PYCOMPILER_RUNTIME_BUFFER_H

#include "runtime/Status.h"
#include "runtime/Token.h"

#include <atomic>
#include <cstddef>

namespace pcrt {

class BufferPool;
class Device;

class Buffer : public RefCounted<Buffer> {
public:
  /// Never null; PCRT_ALIGNMENT-aligned, but for wrapped memory.
  void *data() const { return memory; }
  /// Bytes asked for; the block may be larger.
  size_t size() const { return bytes; }

  /// Where the memory is; null only for buffers of a pool without a device, in tests.
  Device *device() const { return home; }

  /// What fills the buffer; null when it was filled before it was shared. Set once, before the buffer is shared.
  Token *token() const { return producer.get(); }
  void setToken(RefPtr<Token> token) { producer = std::move(token); }
  bool isReady() const { return !producer || producer->isDone(); }
  /// The failure that the contents carry, if ready.
  Error *error() const { return producer ? producer->error() : nullptr; }

  /// Memory of somebody else's, aligned to its element type only. `release(owner)` is called when the last reference
  /// goes, in whichever thread that happens.
  static RefPtr<Buffer> wrap(Device *device, void *memory, size_t bytes, void (*release)(void *), void *owner);
  bool isWrapped() const { return !pool; }
  /// The `owner` that wrapped memory was given.
  void *wrappedOwner() const { return owner; }
  /// A buffer over the memory of another one, which its contents are overwritten in: with a token of its own.
  static RefPtr<Buffer> successor(Buffer &of);
  /// Whether the memory is the pool's, or another buffer's that it came from by `successor`.
  bool isOurs() const { return pool || releaseOwner == releaseRoot; }

private:
  friend class RefCounted<Buffer>;
  friend class BufferPool;
  Buffer(Device *home, BufferPool *pool, void *memory, unsigned sizeClass)
      : home(home), pool(pool), memory(memory), sizeClass(sizeClass) {}
  ~Buffer() = default;
  void destroy();
  /// What a successor has for `releaseOwner`; its owner is the buffer whose memory it has, which is no successor
  /// itself, so that no chain grows.
  static void releaseRoot(void *root);

  Device *const home;
  /// Null for wrapped memory.
  BufferPool *const pool;
  void *const memory;
  const unsigned sizeClass;
  size_t bytes = 0;
  RefPtr<Token> producer;
  Buffer *nextFree = nullptr;
  void (*releaseOwner)(void *) = nullptr;
  void *owner = nullptr;
};

/// The peak is exact for large blocks; what small ones add to it is an upper bound (the sum of each class's own peak).
struct MemoryStatistics {
  uint64_t liveBytes, peakBytes, cachedBytes, liveBuffers;
};

class BufferPool {
public:
  /// Keeps at most `cacheLimit` bytes of freed blocks, and refuses to have more than `memoryLimit` bytes live: an error
  /// that names the sizes is better than the kernel's killer.
  explicit BufferPool(Device *device = nullptr, uint64_t memoryLimit = defaultMemoryLimit());
  BufferPool(Device *device, uint64_t memoryLimit, uint64_t cacheLimit)
      : device(device), memoryLimit(memoryLimit), cacheLimit(cacheLimit) {}
  ~BufferPool();
  BufferPool(const BufferPool &) = delete;
  BufferPool &operator=(const BufferPool &) = delete;

  /// OutOfMemory names the size, and what is live.
  Result<RefPtr<Buffer>> allocate(size_t bytes);
  /// Gives freed blocks back to the system.
  void trim();
  MemoryStatistics statistics();
  void resetPeak();

  /// The machine's memory, or the cgroup's limit if it is lower.
  static uint64_t defaultMemoryLimit();

  /// Around fork(), so that no lock is held by a thread that the child does not have.
  void beforeFork();
  void afterFork();

private:
  friend class Buffer;
  void recycle(Buffer *buffer);
  Buffer *popFree(unsigned sizeClass);
  Buffer *acquire(unsigned sizeClass);

  /// Four classes for each doubling: see capacityOf.
  static constexpr unsigned classCount = 4 * 44;
  struct alignas(64) FreeList {
    std::atomic_flag lock = ATOMIC_FLAG_INIT;
    Buffer *head = nullptr;
    uint32_t cachedCount = 0, liveCount = 0, peakCount = 0;
  };
  FreeList lists[classCount];
  Device *const device;
  const uint64_t memoryLimit, cacheLimit;
  /// Of large blocks; small ones are counted in their lists alone, because an atomic operation more for each allocation
  /// would be felt there.
  std::atomic<uint64_t> largeLive{0}, largePeak{0}, largeCached{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_BUFFER_H

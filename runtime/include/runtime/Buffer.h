// Memory of arrays: counted buffers from a pool that keeps freed blocks for the next call. A buffer also holds the
// token of the execution that fills it. After Token; before Stream and Executable.
#ifndef PYCOMPILER_RUNTIME_BUFFER_H
#define PYCOMPILER_RUNTIME_BUFFER_H

#include "runtime/Status.h"
#include "runtime/Token.h"

#include <atomic>
#include <cstddef>
#include <vector>

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
  /// Whether it was wrapped with this function.
  bool isReleasedBy(void (*release)(void *)) const { return releaseOwner == release; }
  /// The `owner` that wrapped memory was given.
  void *wrappedOwner() const { return owner; }
  /// A buffer over the memory of another one, which its contents are overwritten in: with a token of its own.
  static RefPtr<Buffer> successor(Buffer &of);
  /// `bytes` of another buffer's memory from `offset` on, for an array that is a part of another one: ready when that
  /// is, with its failure.
  static RefPtr<Buffer> view(Buffer &of, size_t offset, size_t bytes);
  /// A small part must not keep a large block: a view has all of it, or at least 64 KiB and an eighth.
  static bool isWorthViewing(size_t part, size_t whole) {
    return part == whole || (part >= smallestView && part >= whole / 8);
  }
  /// Whether `part` bytes of this memory may be looked at in place. Memory of others' may change under the view.
  bool mayView(size_t part) const { return isOurs() && (part == bytes || isWorthViewing(part, root().bytes)); }
  bool isView() const { return releaseOwner == releaseView; }
  /// The references to the buffer whose memory it is.
  uint32_t rootReferences() const { return root().references(); }
  /// How many views look at the memory.
  uint32_t viewCount() const { return root().views.load(std::memory_order_acquire); }
  /// How often NumPy, or another library, was given the memory to read and has not given it back.
  std::atomic<uint32_t> exports{0};
  /// Whether the memory is the pool's, or another buffer's that it came from by `successor` or `view`.
  bool isOurs() const { return root().pool; }

  static constexpr size_t smallestView = size_t(64) << 10;

private:
  friend class RefCounted<Buffer>;
  friend class BufferPool;
  Buffer(Device *home, BufferPool *pool, void *memory, unsigned sizeClass)
      : home(home), pool(pool), memory(memory), sizeClass(sizeClass) {}
  ~Buffer() = default;
  void destroy();
  /// What a successor, or a view, has for `releaseOwner`; its owner is the buffer whose memory it has, which is
  /// neither itself, so that no chain grows.
  static void releaseRoot(void *root);
  static void releaseView(void *root);
  const Buffer &root() const {
    return releaseOwner == releaseRoot || releaseOwner == releaseView ? *static_cast<const Buffer *>(owner) : *this;
  }

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
  std::atomic<uint32_t> views{0};
  /// Of blocks that are listed: their neighbours in the list, and who made them.
  Buffer *previousListed = nullptr, *nextListed = nullptr;
  std::string made;
};

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
  /// Gives freed blocks back to the system. They are kept for the next call otherwise, unless memory is short: then the
  /// blocks of every device go.
  void trim();
  MemoryStatistics statistics();
  void resetPeak();
  uint64_t limit() const { return memoryLimit.load(std::memory_order_relaxed); }
  /// How many bytes may be live from now on; what is live already stays.
  void setLimit(uint64_t bytes) { memoryLimit.store(bytes, std::memory_order_relaxed); }

  /// From this size on, a block is worth a note of who made it.
  static constexpr size_t listedBytes = size_t(1) << 20;
  /// Says of a buffer of this pool, of at least `listedBytes`, what it holds and who made it, for errors.
  void note(Buffer &buffer, std::string made);
  /// The largest blocks in use, of those that are listed.
  std::vector<LiveBlock> largest(size_t count);

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
  void relievePressure(size_t capacity);
  void trimEverywhere();
  void countLarge(Buffer *buffer, size_t capacity);
  Status refusal(size_t bytes);

  /// Four classes for each doubling: see capacityOf.
  static constexpr unsigned classCount = 4 * 44;
  struct alignas(64) FreeList {
    std::atomic_flag lock = ATOMIC_FLAG_INIT;
    Buffer *head = nullptr;
    uint32_t cachedCount = 0, liveCount = 0, peakCount = 0;
    uint64_t allocations = 0;
  };
  FreeList lists[classCount];
  Device *const device;
  std::atomic<uint64_t> memoryLimit;
  const uint64_t cacheLimit;
  /// Of large blocks; small ones are counted in their lists alone, because an atomic operation more for each allocation
  /// would be felt there.
  std::atomic<uint64_t> largeLive{0}, largePeak{0}, largeCached{0};
  /// The blocks in use of at least `listedBytes`.
  std::atomic_flag listedLock = ATOMIC_FLAG_INIT;
  Buffer *listed = nullptr;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_BUFFER_H

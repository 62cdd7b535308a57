// The pool of the host's memory: a free list keeps whole buffers, header and block, so that the usual allocation is one
// pop. After BufferPool; CpuDevice has one.
#ifndef PYCOMPILER_RUNTIME_HOSTBUFFERPOOL_H
#define PYCOMPILER_RUNTIME_HOSTBUFFERPOOL_H

#include "runtime/BufferPool.h"

namespace pcrt {

class HostBufferPool final : public BufferPool {
public:
  /// Keeps at most `cacheLimit` bytes of freed blocks, and refuses more than `memoryLimit` live bytes: an error that
  /// names the sizes is better than the kernel's OOM killer.
  explicit HostBufferPool(Device *device = nullptr, uint64_t memoryLimit = defaultMemoryLimit());
  HostBufferPool(Device *device, uint64_t memoryLimit, uint64_t cacheLimit)
      : device(device), memoryLimit(memoryLimit), cacheLimit(cacheLimit) {}
  ~HostBufferPool() override;

  /// If memory is short, the freed blocks of every device are first returned to the system.
  Result<RefPtr<Buffer>> allocate(size_t bytes) override;
  bool hasFreed(size_t bytes) override;
  void trim() override;
  MemoryStatistics statistics() override;
  void resetPeak() override;
  uint64_t defaultLimit() const override { return defaultMemoryLimit(); }
  uint64_t limit() override { return memoryLimit.load(std::memory_order_relaxed); }
  void setLimit(uint64_t bytes) override { memoryLimit.store(bytes, std::memory_order_relaxed); }
  void note(Buffer &buffer, std::string made) override;
  std::vector<LiveBlock> largest(size_t count) override;

  /// The machine's memory, or the cgroup's limit if it is lower.
  static uint64_t defaultMemoryLimit();

  /// Sets the function that a pool calls when the system is short of memory, after it has returned its own freed
  /// blocks. The function makes all devices' pools do so.
  static void whenShort(void (*trimAll)());

  void beforeFork() override;
  void afterFork() override;

private:
  void recycle(Buffer *buffer) override;
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
  /// For large blocks. Small ones are counted in their lists alone, because another atomic operation for each
  /// allocation would be measurable.
  std::atomic<uint64_t> largeLive{0}, largePeak{0}, largeCached{0};
  /// The blocks in use of at least `listedBytes`.
  std::atomic_flag listedLock = ATOMIC_FLAG_INIT;
  Buffer *listed = nullptr;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_HOSTBUFFERPOOL_H

// The pool of buffers. A free list keeps whole buffers, header and block, so that the common allocation is one pop.
#include "runtime/Buffer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace pcrt;

/// From this size on, blocks come from mmap, aligned to huge pages: a fresh 4 MB costs a tenth then.
static constexpr size_t hugePageBytes = size_t(2) << 20;
static constexpr size_t minCapacity = 64;
/// Blocks up to this size are few bytes but many objects: their lists are bounded by length alone.
static constexpr size_t smallBytes = 4096;
static constexpr uint32_t smallListLength = 1024;

//===-- Size classes ------------------------------------------------------------------------------------------------===//
// Classes 0..3 are 64, 128, 192, 256 bytes; then each doubling has four equal steps (320, 384, 448, 512, 640, ...).

static size_t capacityOf(unsigned sizeClass) {
  if (sizeClass < 4)
    return minCapacity * (sizeClass + 1);
  size_t base = size_t(256) << (sizeClass / 4 - 1);
  return base + (base / 4) * (sizeClass % 4 + 1);
}

static unsigned classOf(size_t bytes) {
  if (bytes <= 4 * minCapacity)
    return bytes == 0 ? 0 : static_cast<unsigned>((bytes - 1) / minCapacity);
  // `last` is the last byte's offset, so that exact powers of two fall into their own class.
  size_t last = bytes - 1;
  unsigned log = 63 - static_cast<unsigned>(__builtin_clzll(last));
  unsigned quarter = static_cast<unsigned>(last >> (log - 2)) & 3;
  return (log - 7) * 4 + quarter;
}

//===-- Buffers -----------------------------------------------------------------------------------------------------===//

namespace {
/// A few instructions long, so spinning is cheaper than sleeping.
class ListGuard {
public:
  explicit ListGuard(std::atomic_flag &flag) : flag(flag) {
    while (flag.test_and_set(std::memory_order_acquire))
      spinPause();
  }
  ~ListGuard() { flag.clear(std::memory_order_release); }

private:
  std::atomic_flag &flag;
};
} // namespace

void Buffer::destroy() {
  producer = nullptr;
  pool.recycle(this);
}

BufferPool::BufferPool(uint64_t memoryLimit)
    : BufferPool(memoryLimit, std::min(memoryLimit / 4, uint64_t(2) << 30)) {}

BufferPool::~BufferPool() { trim(); }

uint64_t BufferPool::defaultMemoryLimit() {
  auto limit = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const char *path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    FILE *file = std::fopen(path, "re");
    if (!file)
      continue;
    unsigned long long bytes; // the file may say "max"
    if (std::fscanf(file, "%llu", &bytes) == 1 && bytes > 0)
      limit = std::min(limit, static_cast<uint64_t>(bytes));
    std::fclose(file);
  }
  return limit;
}

static void *mapHuge(size_t capacity) {
  // Map one huge page more, and give the unaligned ends back.
  size_t total = capacity + hugePageBytes;
  void *raw = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  auto start = reinterpret_cast<uintptr_t>(raw);
  uintptr_t aligned = (start + hugePageBytes - 1) & ~(hugePageBytes - 1);
  if (aligned != start)
    munmap(raw, aligned - start);
  munmap(reinterpret_cast<void *>(aligned + capacity), start + total - (aligned + capacity));
  void *block = reinterpret_cast<void *>(aligned);
  madvise(block, capacity, MADV_HUGEPAGE);
  return block;
}

void *BufferPool::acquire(size_t capacity) {
  if (capacity >= hugePageBytes)
    return mapHuge(capacity);
  return std::aligned_alloc(PCRT_ALIGNMENT, capacity);
}

static void giveBack(void *memory, size_t capacity) {
  if (capacity >= hugePageBytes)
    munmap(memory, capacity);
  else
    std::free(memory);
}

Buffer *BufferPool::popFree(unsigned sizeClass) {
  FreeList &list = lists[sizeClass];
  Buffer *buffer;
  {
    ListGuard guard(list.lock);
    buffer = list.head;
    if (!buffer)
      return nullptr;
    list.head = buffer->nextFree;
    --list.length;
  }
  cachedBytes.fetch_sub(capacityOf(sizeClass), std::memory_order_relaxed);
  buffer->revive();
  return buffer;
}

Result<RefPtr<Buffer>> BufferPool::allocate(size_t bytes) {
  Buffer *buffer = nullptr;
  unsigned sizeClass = 0;
  if (bytes <= memoryLimit && liveBytes.load(std::memory_order_relaxed) + bytes <= memoryLimit) {
    sizeClass = classOf(bytes);
    buffer = popFree(sizeClass);
    if (!buffer) {
      size_t capacity = capacityOf(sizeClass);
      void *memory = acquire(capacity);
      if (!memory) {
        trim();
        memory = acquire(capacity);
      }
      if (memory)
        buffer = new Buffer(*this, memory, sizeClass);
    }
  }
  if (!buffer) {
    MemoryStatistics now = statistics();
    return Status(Code::OutOfMemory, "out of memory: cannot allocate " + formatBytes(bytes) + " (" +
                                         std::to_string(bytes) + " bytes); " + formatBytes(now.liveBytes) +
                                         " are live in " + std::to_string(now.liveBuffers) + " buffers");
  }
  buffer->bytes = bytes;
  uint64_t capacity = capacityOf(sizeClass);
  uint64_t live = liveBytes.fetch_add(capacity, std::memory_order_relaxed) + capacity;
  liveBuffers.fetch_add(1, std::memory_order_relaxed);
  uint64_t peak = peakBytes.load(std::memory_order_relaxed);
  while (live > peak && !peakBytes.compare_exchange_weak(peak, live, std::memory_order_relaxed))
    ;
  return RefPtr<Buffer>::adopt(buffer);
}

void BufferPool::recycle(Buffer *buffer) {
  unsigned sizeClass = buffer->sizeClass;
  size_t capacity = capacityOf(sizeClass);
  liveBytes.fetch_sub(capacity, std::memory_order_relaxed);
  liveBuffers.fetch_sub(1, std::memory_order_relaxed);
  uint64_t cached = cachedBytes.fetch_add(capacity, std::memory_order_relaxed) + capacity;
  if (cached <= cacheLimit) {
    FreeList &list = lists[sizeClass];
    ListGuard guard(list.lock);
    if (capacity > smallBytes || list.length < smallListLength) {
      buffer->nextFree = list.head;
      list.head = buffer;
      ++list.length;
      return;
    }
  }
  cachedBytes.fetch_sub(capacity, std::memory_order_relaxed);
  giveBack(buffer->memory, capacity);
  delete buffer;
}

void BufferPool::trim() {
  for (unsigned sizeClass = 0; sizeClass < classCount; ++sizeClass) {
    while (Buffer *buffer = popFree(sizeClass)) {
      giveBack(buffer->memory, capacityOf(sizeClass));
      delete buffer;
    }
  }
}

MemoryStatistics BufferPool::statistics() const {
  return {liveBytes.load(), peakBytes.load(), cachedBytes.load(), liveBuffers.load()};
}

void BufferPool::beforeFork() {
  for (FreeList &list : lists)
    while (list.lock.test_and_set(std::memory_order_acquire))
      spinPause();
}

void BufferPool::afterFork() {
  for (FreeList &list : lists)
    list.lock.clear(std::memory_order_release);
}

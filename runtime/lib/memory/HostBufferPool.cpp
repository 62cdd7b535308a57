// Size classes, free lists, and blocks of the system.
#include "runtime/HostBufferPool.h"

#include "memory/MemoryPressure.h"
#include "runtime/Device.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

using namespace pcrt;

/// From this size on, blocks come from mmap, aligned to huge pages: a new block of 4 MB then costs a tenth.
static constexpr size_t hugePageBytes = size_t(2) << 20;
static constexpr size_t minCapacity = 64;
/// Blocks up to this size take few bytes, so their lists are bounded by length alone.
static constexpr size_t smallBytes = 4096;
static constexpr uint32_t smallListLength = 1024;

static std::atomic<void (*)()> trimsAll{nullptr};

uint64_t HostBufferPool::defaultMemoryLimit() { return systemMemoryLimit(); }

//===-- Size classes
//------------------------------------------------------------------------------------------------===//
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

HostBufferPool::HostBufferPool(Device *device, uint64_t memoryLimit)
    : HostBufferPool(device, memoryLimit, std::min(memoryLimit / 4, uint64_t(2) << 30)) {}

HostBufferPool::~HostBufferPool() { trim(); }

static size_t wholePages(size_t bytes) { return (bytes + 4095) & ~size_t(4095); }

/// Blocks start at different offsets in a huge page. Otherwise the rows of equal arrays, which programs read and write
/// together, would compete for the same sets of the caches. Colours are a page and some lines apart, and decrease,
/// because a result is allocated after its operands. If the addresses of a load and an earlier store agree within a
/// page, a core assumes a dependence and waits. x + b of 4 MiB takes 8% less time on Zen 4 if the result is some lines
/// below x, within pages, than if it is as many above.
static size_t nextColour() {
  constexpr size_t colours = 8, distance = 4096 + 320;
  static std::atomic<size_t> count{0};
  return (colours - 1 - count.fetch_add(1, std::memory_order_relaxed) % colours) * distance;
}

static void *mapHuge(size_t capacity) {
  size_t colour = nextColour();
  // Map an extra huge page, and return the unaligned ends.
  size_t total = capacity + colour + hugePageBytes;
  void *raw = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  auto start = reinterpret_cast<uintptr_t>(raw);
  uintptr_t aligned = (start + hugePageBytes - 1) & ~(hugePageBytes - 1);
  size_t kept = wholePages(capacity + colour);
  if (aligned != start)
    munmap(raw, aligned - start);
  if (aligned + kept != start + total)
    munmap(reinterpret_cast<void *>(aligned + kept), start + total - (aligned + kept));
  madvise(reinterpret_cast<void *>(aligned), kept, MADV_HUGEPAGE);
  return reinterpret_cast<void *>(aligned + colour);
}

static void *takeFromSystem(size_t capacity) {
  return capacity >= hugePageBytes ? mapHuge(capacity) : std::aligned_alloc(PCRT_ALIGNMENT, capacity);
}

static void giveBack(void *memory, size_t capacity) {
  if (capacity < hugePageBytes)
    return std::free(memory);
  size_t colour = reinterpret_cast<uintptr_t>(memory) % hugePageBytes;
  munmap(static_cast<char *>(memory) - colour, wholePages(capacity + colour));
}

//===-- Allocation
//--------------------------------------------------------------------------------------------------===//

static bool isLarge(unsigned sizeClass) { return capacityOf(sizeClass) > smallBytes; }

/// A cached buffer, counted as live; null if there is none.
Buffer *HostBufferPool::popFree(unsigned sizeClass) {
  FreeList &list = lists[sizeClass];
  Buffer *buffer;
  {
    ListGuard guard(list.lock);
    buffer = list.head;
    if (!buffer)
      return nullptr;
    list.head = buffer->nextFree;
    --list.cachedCount;
    ++list.allocations;
    list.peakCount = std::max(list.peakCount, ++list.liveCount);
  }
  if (isLarge(sizeClass))
    largeCached.fetch_sub(capacityOf(sizeClass), std::memory_order_relaxed);
  buffer->revive();
  return buffer;
}

/// A buffer of new memory, counted as live; null if the system has none.
Buffer *HostBufferPool::acquire(unsigned sizeClass) {
  size_t capacity = capacityOf(sizeClass);
  if (capacity >= hugePageBytes)
    relievePressure(capacity);
  void *memory = takeFromSystem(capacity);
  if (!memory) {
    trimEverywhere();
    memory = takeFromSystem(capacity);
  }
  if (!memory)
    return nullptr;
  FreeList &list = lists[sizeClass];
  ListGuard guard(list.lock);
  ++list.allocations;
  list.peakCount = std::max(list.peakCount, ++list.liveCount);
  return new Buffer(device, this, memory, sizeClass);
}

/// Called before memory is taken from the system.
void HostBufferPool::relievePressure(size_t capacity) {
  if (largeLive.load(std::memory_order_relaxed) + largeCached.load(std::memory_order_relaxed) + capacity > limit())
    trim();
  if (isMemoryShort(capacity))
    trimEverywhere();
}

void HostBufferPool::trimEverywhere() {
  trim();
  if (auto trimAll = device ? trimsAll.load(std::memory_order_relaxed) : nullptr)
    trimAll();
}

void HostBufferPool::whenShort(void (*trimAll)()) { trimsAll.store(trimAll, std::memory_order_relaxed); }

/// Counts a block as live.
void HostBufferPool::countLarge(Buffer *buffer, size_t capacity) {
  uint64_t live = largeLive.fetch_add(capacity, std::memory_order_relaxed) + capacity;
  uint64_t peak = largePeak.load(std::memory_order_relaxed);
  while (live > peak && !largePeak.compare_exchange_weak(peak, live, std::memory_order_relaxed))
    ;
  if (capacity < listedBytes)
    return;
  ListGuard guard(listedLock);
  buffer->nextListed = listed;
  buffer->previousListed = nullptr;
  if (listed)
    listed->previousListed = buffer;
  listed = buffer;
}

Result<RefPtr<Buffer>> HostBufferPool::allocate(size_t bytes) {
  Buffer *buffer = nullptr;
  unsigned sizeClass = 0;
  uint64_t most = limit();
  if (bytes <= most && largeLive.load(std::memory_order_relaxed) + bytes <= most) {
    sizeClass = classOf(bytes);
    buffer = popFree(sizeClass);
    if (!buffer)
      buffer = acquire(sizeClass);
  }
  if (!buffer)
    return refusal(bytes);
  buffer->bytes = bytes;
  if (isLarge(sizeClass))
    countLarge(buffer, capacityOf(sizeClass));
  return RefPtr<Buffer>::adopt(buffer);
}

bool HostBufferPool::hasFreed(size_t bytes) {
  FreeList &list = lists[classOf(bytes)];
  ListGuard guard(list.lock);
  return list.head;
}

Status HostBufferPool::refusal(size_t bytes) {
  MemoryStatistics now = statistics();
  std::string where = device ? device->name() + " has " : "";
  std::string text = "out of memory: cannot allocate " + formatBytes(bytes) + " (" + std::to_string(bytes) +
                     " bytes); " + where + "a limit of " + formatBytes(limit()) + ", and " +
                     formatBytes(now.liveBytes) + " are live in " + std::to_string(now.liveBuffers) + " buffers";
  const char *separator = ", the largest of them: ";
  for (const LiveBlock &block : largest(5)) {
    text += separator + formatBytes(block.bytes) + (block.made.empty() ? "" : " ") + block.made;
    separator = "; ";
  }
  return Status(Code::OutOfMemory, std::move(text));
}

void HostBufferPool::note(Buffer &buffer, std::string made) {
  ListGuard guard(listedLock);
  buffer.made = std::move(made);
}

std::vector<LiveBlock> HostBufferPool::largest(size_t count) {
  std::vector<LiveBlock> found;
  {
    ListGuard guard(listedLock);
    for (Buffer *buffer = listed; buffer; buffer = buffer->nextListed)
      found.push_back({buffer->bytes, buffer->made});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  found.resize(std::min(found.size(), count));
  return found;
}

void HostBufferPool::recycle(Buffer *buffer) {
  unsigned sizeClass = buffer->sizeClass;
  size_t capacity = capacityOf(sizeClass);
  bool large = isLarge(sizeClass);
  bool fits = true;
  if (capacity >= listedBytes) {
    ListGuard guard(listedLock);
    (buffer->previousListed ? buffer->previousListed->nextListed : listed) = buffer->nextListed;
    if (buffer->nextListed)
      buffer->nextListed->previousListed = buffer->previousListed;
    buffer->made.clear();
  }
  if (large) {
    largeLive.fetch_sub(capacity, std::memory_order_relaxed);
    fits = largeCached.fetch_add(capacity, std::memory_order_relaxed) + capacity <= cacheLimit;
  }
  FreeList &list = lists[sizeClass];
  {
    ListGuard guard(list.lock);
    --list.liveCount;
    if (large ? fits : list.cachedCount < smallListLength) {
      buffer->nextFree = list.head;
      list.head = buffer;
      ++list.cachedCount;
      return;
    }
  }
  if (large)
    largeCached.fetch_sub(capacity, std::memory_order_relaxed);
  giveBack(buffer->memory, capacity);
  delete buffer;
}

void HostBufferPool::trim() {
  for (unsigned sizeClass = 0; sizeClass < classCount; ++sizeClass) {
    while (Buffer *buffer = popFree(sizeClass)) {
      FreeList &list = lists[sizeClass];
      {
        ListGuard guard(list.lock);
        --list.liveCount;
        --list.allocations;
      }
      giveBack(buffer->memory, capacityOf(sizeClass));
      delete buffer;
    }
  }
}

//===-- Statistics, fork
//--------------------------------------------------------------------------------------------===//

MemoryStatistics HostBufferPool::statistics() {
  MemoryStatistics result{largeLive.load(), largePeak.load(), largeCached.load(), 0, 0, 0};
  for (unsigned sizeClass = 0; sizeClass < classCount; ++sizeClass) {
    FreeList &list = lists[sizeClass];
    ListGuard guard(list.lock);
    result.liveBuffers += list.liveCount;
    result.allocations += list.allocations;
    if (list.allocations > 0)
      result.largestBytes = capacityOf(sizeClass);
    if (isLarge(sizeClass))
      continue;
    result.liveBytes += list.liveCount * capacityOf(sizeClass);
    result.peakBytes += list.peakCount * capacityOf(sizeClass);
    result.cachedBytes += list.cachedCount * capacityOf(sizeClass);
  }
  return result;
}

void HostBufferPool::resetPeak() {
  largePeak.store(largeLive.load());
  for (FreeList &list : lists) {
    ListGuard guard(list.lock);
    list.peakCount = list.liveCount;
  }
}

void HostBufferPool::beforeFork() {
  for (FreeList &list : lists)
    while (list.lock.test_and_set(std::memory_order_acquire))
      spinPause();
  while (listedLock.test_and_set(std::memory_order_acquire))
    spinPause();
}

void HostBufferPool::afterFork() {
  listedLock.clear(std::memory_order_release);
  for (FreeList &list : lists)
    list.lock.clear(std::memory_order_release);
}

// Buffers: alignment, reuse, limits, statistics.
#include "Check.h"
#include "memory/MemoryPressure.h"
#include "runtime/BufferPool.h"
#include "runtime/Device.h"
#include "runtime/Devices.h"
#include "runtime/HostBufferPool.h"

#include <cstring>
#include <thread>
#include <vector>

using namespace pcrt;

static RefPtr<Buffer> allocate(BufferPool &pool, size_t bytes) {
  Result<RefPtr<Buffer>> buffer = pool.allocate(bytes);
  REQUIRE(buffer.isOk());
  return buffer.take();
}

static void alignedAndLargeEnough() {
  HostBufferPool pool;
  for (size_t bytes : {0, 1, 63, 64, 65, 256, 257, 320, 321, 511, 512, 513, 4095, 4097, 100000, (2 << 20) - 1, 2 << 20,
                       (2 << 20) + 1, 5000001}) {
    RefPtr<Buffer> buffer = allocate(pool, bytes);
    CHECK(buffer->size() == bytes && buffer->data());
    CHECK(reinterpret_cast<uintptr_t>(buffer->data()) % PCRT_ALIGNMENT == 0);
    std::memset(buffer->data(), 1, bytes);
    // At most a quarter is wasted.
    CHECK(pool.statistics().liveBytes <= std::max<size_t>(64, bytes + bytes / 4 + 64));
  }
}

/// Adjacent blocks use different sets of a cache whose sets repeat after a page. Also, the later block is not slightly
/// above the earlier one within pages: otherwise the core would assume that loads from one depend on stores to the
/// other.
static void largeBlocksDoNotAllStartAtOnePlace() {
  HostBufferPool pool;
  std::vector<RefPtr<Buffer>> blocks;
  for (int i = 0; i < 12; ++i) {
    blocks.push_back(allocate(pool, 4 << 20));
    std::memset(blocks.back()->data(), i, 4 << 20);
    auto place = [](const RefPtr<Buffer> &block) { return reinterpret_cast<uintptr_t>(block->data()) % 4096; };
    uintptr_t above = i == 0 ? 4095 : (place(blocks.back()) - place(blocks[blocks.size() - 2])) % 4096;
    CHECK(above >= 1024);
  }
  blocks.clear();
  pool.trim();
  CHECK(pool.statistics().liveBytes == 0);
}

static void everyClassFits() {
  HostBufferPool pool;
  for (size_t bytes = 1; bytes < 20000; ++bytes) {
    RefPtr<Buffer> buffer = allocate(pool, bytes);
    uint64_t capacity = pool.statistics().liveBytes;
    CHECK(capacity >= bytes && capacity % 64 == 0);
  }
}

static void wrappedMemoryGoesBackToItsOwner() {
  static int released;
  released = 0;
  float values[3] = {1, 2, 3};
  {
    RefPtr<Buffer> buffer = Buffer::wrap(
        nullptr, values, sizeof values, [](void *owner) { released += *static_cast<float *>(owner) == 1; }, values);
    CHECK(buffer->data() == values && buffer->size() == sizeof values && buffer->isWrapped() && buffer->isReady());
    RefPtr<Buffer> second = buffer;
    buffer = nullptr;
    CHECK(released == 0);
  }
  CHECK(released == 1);
  HostBufferPool pool;
  CHECK(!allocate(pool, 8)->isWrapped());
}

/// Without a release function, without elements, and aligned to one byte only.
static void wrappedMemoryOfAnyKind() {
  char bytes[3] = {1, 2, 3};
  RefPtr<Buffer> odd = Buffer::wrap(nullptr, bytes + 1, 2, nullptr, nullptr),
                 none = Buffer::wrap(nullptr, nullptr, 0, nullptr, nullptr);
  CHECK(odd->data() == bytes + 1 && odd->size() == 2 && !none->data() && none->size() == 0 && none->isWrapped());
  odd = nullptr;
  CHECK(bytes[1] == 2);
}

static void wrappedMemoryCarriesErrors() {
  int released = 0;
  RefPtr<Error> error = RefPtr<Error>::adopt(new Error(Code::Unknown, "x", "", ""));
  RefPtr<Buffer> buffer =
      Buffer::wrap(nullptr, nullptr, 0, [](void *count) { ++*static_cast<int *>(count); }, &released);
  buffer->setToken(Token::failed(error));
  CHECK(buffer->isReady() && buffer->error() == error.get());
  buffer = nullptr;
  CHECK(released == 1);
}

/// The last of several threads to drop its reference releases, once, and sees the writes of the others.
static void wrappedMemoryIsReleasedOnce() {
  struct Owner {
    int values[4] = {};
    int released = 0, sum = 0;
  };
  for (int round = 0; round < 500; ++round) {
    Owner owner;
    RefPtr<Buffer> buffer = Buffer::wrap(
        nullptr, owner.values, sizeof owner.values,
        [](void *pointer) {
          auto *of = static_cast<Owner *>(pointer);
          ++of->released;
          for (int value : of->values)
            of->sum += value;
        },
        &owner);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([held = buffer, t]() mutable {
        static_cast<int *>(held->data())[t] = t + 1;
        held = nullptr;
      });
    buffer = nullptr;
    for (std::thread &thread : threads)
      thread.join();
    CHECK(owner.released == 1 && owner.sum == 10);
  }
}

static void freedBlocksAreReused() {
  HostBufferPool pool;
  for (size_t bytes : {size_t(100), size_t(4) << 20}) {
    RefPtr<Buffer> first = allocate(pool, bytes);
    void *data = first->data();
    first = nullptr;
    RefPtr<Buffer> second = allocate(pool, bytes - 8);
    CHECK(second->data() == data && second->size() == bytes - 8);
    CHECK(second->isReady() && !second->error());
  }
}

static void freshTokenAfterReuse() {
  HostBufferPool pool;
  RefPtr<Buffer> buffer = allocate(pool, 64);
  buffer->setToken(Token::failed(RefPtr<Error>::adopt(new Error(Code::Unknown, "x", "", ""))));
  CHECK(buffer->error());
  buffer = nullptr;
  CHECK(!allocate(pool, 64)->error());
}

static void statisticsAddUp() {
  HostBufferPool pool;
  {
    RefPtr<Buffer> a = allocate(pool, 1024), b = allocate(pool, 4096);
    MemoryStatistics now = pool.statistics();
    CHECK(now.liveBytes == 5120 && now.peakBytes == 5120 && now.liveBuffers == 2 && now.cachedBytes == 0);
  }
  MemoryStatistics now = pool.statistics();
  CHECK(now.liveBytes == 0 && now.peakBytes == 5120 && now.liveBuffers == 0 && now.cachedBytes == 5120);
  pool.trim();
  pool.resetPeak();
  CHECK(pool.statistics().cachedBytes == 0 && pool.statistics().peakBytes == 0);
}

static void limits() {
  HostBufferPool pool(nullptr, /*memoryLimit=*/1 << 20, /*cacheLimit=*/1 << 16);
  RefPtr<Buffer> held = allocate(pool, 1 << 19);
  Result<RefPtr<Buffer>> tooMuch = pool.allocate((1 << 19) + 1);
  CHECK(tooMuch.status().code() == Code::OutOfMemory);
  CHECK(tooMuch.status().message().find("524289 bytes") != std::string::npos);
  CHECK(tooMuch.status().message().find("512.0 KiB are live in 1 buffers") != std::string::npos);
  CHECK(!pool.allocate(~size_t(0)).isOk());
  held = nullptr;
  CHECK(pool.statistics().cachedBytes == 0); // above the limit: returned to the system at once
  allocate(pool, 1 << 15);
  CHECK(pool.statistics().cachedBytes == 1 << 15);
}

/// A view holds the memory alone, whatever its source was, and is counted there.
static void viewsHoldTheirRoot() {
  HostBufferPool pool;
  RefPtr<Buffer> whole = allocate(pool, 1 << 20);
  std::memset(whole->data(), 1, 1 << 20);
  RefPtr<Buffer> half = Buffer::view(*whole, 1 << 19, 1 << 19), quarter = Buffer::view(*half, 64, 1 << 18);
  CHECK(half->isView() && half->isOurs() && half->isWrapped() && !whole->isView());
  CHECK(quarter->data() == static_cast<char *>(whole->data()) + (1 << 19) + 64 && quarter->size() == 1 << 18);
  CHECK(whole->viewCount() == 2 && quarter->viewCount() == 2 && quarter->rootReferences() == 3);
  half = nullptr;
  CHECK(whole->viewCount() == 1);
  // A successor's views are its root's: nothing is overwritten under them.
  RefPtr<Buffer> next = Buffer::successor(*whole), part = Buffer::view(*next, 0, 1 << 19);
  CHECK(whole->viewCount() == 2);
  next = nullptr;
  whole = nullptr;
  part = nullptr;
  CHECK(pool.statistics().liveBuffers == 1 && quarter->rootReferences() == 1);
  CHECK(static_cast<char *>(quarter->data())[0] == 1);
  quarter = nullptr;
  CHECK(pool.statistics().liveBuffers == 0);
}

static void viewsAreLargeParts() {
  HostBufferPool pool;
  RefPtr<Buffer> small = allocate(pool, 100), large = allocate(pool, 1 << 20);
  CHECK(small->mayView(100) && !small->mayView(99));
  CHECK(large->mayView(1 << 17) && !large->mayView((1 << 17) - 1) && !Buffer::isWorthViewing(65535, 70000));
  RefPtr<Buffer> part = Buffer::view(*large, 0, 1 << 18);
  CHECK(part->mayView(1 << 18) && part->mayView(1 << 17) && !part->mayView(1 << 16)); // the limit is that of the block,
                                                                                      // not of the part
  char bytes[8];
  CHECK(!Buffer::wrap(nullptr, bytes, 8, nullptr, nullptr)->mayView(8));
}

static void viewsShareTheToken() {
  HostBufferPool pool;
  RefPtr<Buffer> whole = allocate(pool, 1 << 17);
  auto token = RefPtr<Token>::adopt(new Token());
  whole->setToken(token);
  RefPtr<Buffer> part = Buffer::view(*whole, 0, 1 << 16);
  whole = nullptr;
  CHECK(!part->isReady());
  token->complete(RefPtr<Error>::adopt(new Error(Code::Unknown, "x", "", "")));
  CHECK(part->isReady() && part->error() && part->error()->message == "x");
}

static void viewsEndInAnyThread() {
  HostBufferPool pool;
  for (int round = 0; round < 200; ++round) {
    RefPtr<Buffer> whole = allocate(pool, 1 << 17);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([part = Buffer::view(*whole, size_t(t) << 15, 1 << 15), t]() mutable {
        std::memset(part->data(), t, part->size());
        part = nullptr;
      });
    whole = nullptr;
    for (std::thread &thread : threads)
      thread.join();
    CHECK(pool.statistics().liveBuffers == 0);
  }
}

static void statisticsOfTheWholeLife() {
  HostBufferPool pool;
  for (int i = 0; i < 3; ++i)
    allocate(pool, 64);
  allocate(pool, 5 << 20);
  pool.trim();
  MemoryStatistics now = pool.statistics();
  CHECK(now.allocations == 4 && now.largestBytes == 5 << 20 && now.liveBuffers == 0);
}

static void refusalsNameTheLargest() {
  HostBufferPool pool(nullptr, /*memoryLimit=*/8 << 20, /*cacheLimit=*/0);
  RefPtr<Buffer> large = allocate(pool, 4 << 20), unnamed = allocate(pool, 2 << 20), small = allocate(pool, 1000);
  pool.note(*large, "f32[1048576] made at model.py:7 by dot");
  std::string text = pool.allocate(4 << 20).status().message();
  CHECK(text.find("cannot allocate 4.0 MiB (4194304 bytes); a limit of 8.0 MiB, and 6.0 MiB are live in 3 buffers, the "
                  "largest of them: 4.0 MiB f32[1048576] made at model.py:7 by dot; 2.0 MiB") != std::string::npos);
  large = nullptr;
  CHECK(pool.largest(5).size() == 1);
  large = allocate(pool, 4 << 20);
  CHECK(pool.largest(1)[0].made.empty()); // the note of the former block is dropped
  CHECK(!pool.allocate(4 << 20).isOk());
  pool.setLimit(16 << 20);
  CHECK(pool.allocate(4 << 20).isOk() && pool.limit() == 16 << 20);
}

static void cachedBlocksCountAgainstTheLimit() {
  HostBufferPool pool(nullptr, /*memoryLimit=*/8 << 20, /*cacheLimit=*/8 << 20);
  allocate(pool, 6 << 20);
  CHECK(pool.statistics().cachedBytes == 6 << 20);
  RefPtr<Buffer> other = allocate(pool, 4 << 20); // of another size class
  CHECK(pool.statistics().cachedBytes == 0);
}

static uint64_t plenty() { return ~uint64_t(0); }
static uint64_t almostNothing() { return 1 << 20; }

/// Freed blocks of every device are returned when the system is short of memory, and only then.
static void pressureEmptiesEveryPool() {
  Device &device = Devices::cpu();
  HostBufferPool own;
  constexpr size_t bytes = size_t(64) << 20;
  for (bool isShort : {false, true}) {
    memorySource = plenty;
    allocate(device.memory(), 3 << 20);
    allocate(own, 3 << 20);
    CHECK(device.memory().statistics().cachedBytes >= 3 << 20);
    memorySource = isShort ? almostNothing : plenty;
    // A size without a freed block.
    size_t fresh = isShort ? 2 * bytes : bytes;
    RefPtr<Buffer> ofDevice = allocate(device.memory(), fresh), ofOwn = allocate(own, fresh);
    CHECK((device.memory().statistics().cachedBytes < 3 << 20) == isShort);
    CHECK((own.statistics().cachedBytes < 3 << 20) == isShort);
  }
  memorySource = availableMemory;
  CHECK(availableMemory() > 0 && HostBufferPool::defaultMemoryLimit() > 0);
}

/// Reports are made while others allocate.
static void reportsAmongThreads() {
  HostBufferPool pool(nullptr, /*memoryLimit=*/64 << 20, /*cacheLimit=*/64 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        RefPtr<Buffer> buffer = allocate(pool, 1 << 20);
        pool.note(*buffer, "made by " + std::to_string(i));
        CHECK(pool.largest(3).size() <= 3);
        CHECK(!pool.allocate(size_t(65) << 20).isOk());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(pool.largest(5).empty());
}

static void manyThreads() {
  HostBufferPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<RefPtr<Buffer>> held;
      for (int i = 0; i < 5000; ++i) {
        held.push_back(allocate(pool, static_cast<size_t>(i * 37 % 3000)));
        *static_cast<int *>(held.back()->data()) = t;
        if (held.size() > 16) {
          CHECK(*static_cast<int *>(held.front()->data()) == t);
          held.erase(held.begin());
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(pool.statistics().liveBytes == 0 && pool.statistics().liveBuffers == 0);
}

int main() {
  RUN(alignedAndLargeEnough);
  RUN(largeBlocksDoNotAllStartAtOnePlace);
  RUN(everyClassFits);
  RUN(wrappedMemoryGoesBackToItsOwner);
  RUN(wrappedMemoryOfAnyKind);
  RUN(wrappedMemoryCarriesErrors);
  RUN(wrappedMemoryIsReleasedOnce);
  RUN(freedBlocksAreReused);
  RUN(freshTokenAfterReuse);
  RUN(statisticsAddUp);
  RUN(limits);
  RUN(viewsHoldTheirRoot);
  RUN(viewsAreLargeParts);
  RUN(viewsShareTheToken);
  RUN(viewsEndInAnyThread);
  RUN(statisticsOfTheWholeLife);
  RUN(refusalsNameTheLargest);
  RUN(cachedBlocksCountAgainstTheLimit);
  RUN(pressureEmptiesEveryPool);
  RUN(reportsAmongThreads);
  RUN(manyThreads);
  return test::failures() != 0;
}

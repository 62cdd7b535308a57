// Buffers: alignment, reuse, limits, statistics.
#include "runtime/Buffer.h"
#include "Check.h"

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
  BufferPool pool;
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

static void everyClassFits() {
  BufferPool pool;
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
  BufferPool pool;
  CHECK(!allocate(pool, 8)->isWrapped());
}

/// Nothing to release, no elements, memory that is aligned to no more than a byte.
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

/// The last of several threads to let go releases, once, and sees what the others wrote.
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
  BufferPool pool;
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
  BufferPool pool;
  RefPtr<Buffer> buffer = allocate(pool, 64);
  buffer->setToken(Token::failed(RefPtr<Error>::adopt(new Error(Code::Unknown, "x", "", ""))));
  CHECK(buffer->error());
  buffer = nullptr;
  CHECK(!allocate(pool, 64)->error());
}

static void statisticsAddUp() {
  BufferPool pool;
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
  BufferPool pool(nullptr, /*memoryLimit=*/1 << 20, /*cacheLimit=*/1 << 16);
  RefPtr<Buffer> held = allocate(pool, 1 << 19);
  Result<RefPtr<Buffer>> tooMuch = pool.allocate((1 << 19) + 1);
  CHECK(tooMuch.status().code() == Code::OutOfMemory);
  CHECK(tooMuch.status().message().find("524289 bytes") != std::string::npos);
  CHECK(tooMuch.status().message().find("512.0 KiB are live in 1 buffers") != std::string::npos);
  CHECK(!pool.allocate(~size_t(0)).isOk());
  held = nullptr;
  CHECK(pool.statistics().cachedBytes == 0); // above the limit: given back at once
  allocate(pool, 1 << 15);
  CHECK(pool.statistics().cachedBytes == 1 << 15);
}

static void manyThreads() {
  BufferPool pool;
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
  RUN(everyClassFits);
  RUN(wrappedMemoryGoesBackToItsOwner);
  RUN(wrappedMemoryOfAnyKind);
  RUN(wrappedMemoryCarriesErrors);
  RUN(wrappedMemoryIsReleasedOnce);
  RUN(freedBlocksAreReused);
  RUN(freshTokenAfterReuse);
  RUN(statisticsAddUp);
  RUN(limits);
  RUN(manyThreads);
  return test::failures() != 0;
}

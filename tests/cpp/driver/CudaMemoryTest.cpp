// The memory of a CUDA device, over the emulated driver: counted, bounded, and freed in any thread and in host
// functions.
#include "driver/CudaMemory.h"
#include "driver/EmulatedDriver.h"

#include <thread>

using namespace pcrt;
using namespace pcrt::cuda;

static constexpr uint64_t mebibyte = uint64_t(1) << 20;

namespace {
struct Fixture : test::StreamInUse {
  Fixture() {
    auto created = CudaMemory::create(context, stream);
    REQUIRE(created.isOk());
    memory = created.take();
  }
  ~Fixture() {
    CHECK(memory->statistics().liveBuffers == 0);
    CHECK(memory->trim().isOk() && driver.cuStreamDestroy(stream) == CUDA_SUCCESS);
  }
  CUdeviceptr allocate(size_t bytes) {
    Result<CUdeviceptr> taken = memory->allocate(bytes);
    if (!taken.isOk())
      std::fprintf(stderr, "%s\n", taken.status().message().c_str());
    CHECK(taken.isOk() && taken.value());
    return taken.value();
  }

  std::unique_ptr<CudaMemory> memory;
};
} // namespace

static bool contains(const std::string &text, const char *part) {
  bool found = text.find(part) != std::string::npos;
  if (!found)
    std::fprintf(stderr, "message: %s\n", text.c_str());
  return found;
}

static void counts() {
  Fixture fixture;
  CudaMemory &memory = *fixture.memory;
  CUdeviceptr first = fixture.allocate(3 * mebibyte), second = fixture.allocate(mebibyte), none = fixture.allocate(0);
  MemoryStatistics now = memory.statistics();
  CHECK(now.liveBytes == 4 * mebibyte + 1 && now.peakBytes == now.liveBytes && now.liveBuffers == 3);
  CHECK(now.allocations == 3 && now.largestBytes == 3 * mebibyte);
  memory.free(first);
  now = memory.statistics();
  CHECK(now.liveBytes == mebibyte + 1 && now.peakBytes == 4 * mebibyte + 1 && now.liveBuffers == 2);
  memory.resetPeak();
  CHECK(memory.statistics().peakBytes == mebibyte + 1);
  // Free memory is kept at a synchronization, until it is trimmed.
  CHECK(fixture.driver.cuStreamSynchronize(fixture.stream) == CUDA_SUCCESS);
  CHECK(memory.statistics().cachedBytes >= 2 * mebibyte);
  memory.free(second);
  memory.free(none);
  CHECK(memory.trim().isOk() && memory.statistics().cachedBytes == 0);
}

static void keepsALimit() {
  Fixture fixture;
  CudaMemory &memory = *fixture.memory;
  CHECK(memory.limit() == 64 * mebibyte);
  memory.setLimit(8 * mebibyte);
  CUdeviceptr small = fixture.allocate(mebibyte), large = fixture.allocate(6 * mebibyte);
  memory.note(large, "f32[1572864] made by exp at model.py:3");
  Result<CUdeviceptr> refused = memory.allocate(2 * mebibyte);
  CHECK(!refused.isOk() && refused.status().code() == Code::OutOfMemory);
  CHECK(contains(refused.status().message(), "cannot allocate 2.0 MiB (2097152 bytes); cuda:0 has a limit of 8.0 MiB, "
                                             "and 7.0 MiB are live in 2 buffers, the largest of them: 6.0 MiB "
                                             "f32[1572864] made by exp at model.py:3; 1.0 MiB"));
  CHECK(!memory.allocate(SIZE_MAX).isOk());
  memory.free(large);
  CUdeviceptr again = fixture.allocate(7 * mebibyte);
  memory.free(again);
  memory.free(small);
}

static void saysWhatTheDeviceHas() {
  Fixture fixture;
  CudaMemory &memory = *fixture.memory;
  CUdeviceptr block = fixture.allocate(1000);
  CONTROL(emulatorFailAllocationsAfter)(0);
  Result<CUdeviceptr> refused = memory.allocate(mebibyte);
  CONTROL(emulatorReset)();
  CHECK(!refused.isOk() && refused.status().code() == Code::OutOfMemory);
  CHECK(contains(refused.status().message(),
                 "of its 64.0 MiB of memory 62.0 MiB are free, and 1000 bytes are live in 1 "
                 "buffers"));
  CHECK(contains(refused.status().message(), "CUDA_ERROR_OUT_OF_MEMORY"));
  CHECK(memory.statistics().liveBytes == 1000);
  memory.free(block);
}

using test::gateOpen;

/// The block is in use until the stream has passed it: an allocation without room waits for that.
static void usesAgainWhatIsOnItsWay() {
  Fixture fixture;
  gateOpen = false;
  CUdeviceptr block = fixture.allocate(40 * mebibyte);
  auto wait = [](void *) {
    while (!gateOpen)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  };
  CHECK(fixture.driver.cuLaunchHostFunc(fixture.stream, wait, nullptr) == CUDA_SUCCESS);
  fixture.memory->free(block);
  std::thread opener([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gateOpen = true;
  });
  block = fixture.allocate(41 * mebibyte);
  CHECK(gateOpen);
  opener.join();
  fixture.memory->free(block);
}

/// In functions in which driver calls fail.
static void freesInHostFunctions() {
  Fixture fixture;
  static CudaMemory *memory;
  static CUdeviceptr block;
  memory = fixture.memory.get();
  block = fixture.allocate(40 * mebibyte);
  uint64_t before = CONTROL(emulatorCallCount)("cuMemFreeAsync");
  auto free = [](void *) {
    HostFunctionScope scope;
    memory->free(block);
  };
  CHECK(fixture.driver.cuLaunchHostFunc(fixture.stream, free, nullptr) == CUDA_SUCCESS);
  CHECK(fixture.driver.cuStreamSynchronize(fixture.stream) == CUDA_SUCCESS);
  CHECK(memory->statistics().liveBytes == 0 && CONTROL(emulatorCallCount)("cuMemFreeAsync") == before);
  block = fixture.allocate(40 * mebibyte);
  CHECK(CONTROL(emulatorCallCount)("cuMemFreeAsync") == before + 1);
  memory->free(block);
}

static void servesThreads() {
  Fixture fixture;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&] {
      // New threads have no context.
      for (size_t round = 1; round <= 100; ++round) {
        CUdeviceptr first = fixture.allocate(100 * round), second = fixture.allocate(7);
        fixture.memory->free(first);
        fixture.memory->free(second);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  MemoryStatistics now = fixture.memory->statistics();
  CHECK(now.liveBytes == 0 && now.liveBuffers == 0 && now.allocations == 800 && now.largestBytes == 10000);
}

static void namesAMissingDevice() {
  Fixture fixture;
  Result<Context> none = Context::retain(fixture.driver, 7);
  CHECK(!none.isOk() && contains(none.status().message(), "invalid device ordinal"));
}

static void needsPools() {
  Fixture fixture;
  setenv("PYCOMPILER_EMULATED_POOLS", "0", 1);
  auto refused = CudaMemory::create(fixture.context, fixture.stream);
  unsetenv("PYCOMPILER_EMULATED_POOLS");
  CHECK(!refused.isOk() && contains(refused.status().message(), "cuda:0 has no memory pools"));
}

int main() {
  setenv("PYCOMPILER_EMULATED_MEMORY", "67108864", 1);
  RUN(counts);
  RUN(keepsALimit);
  RUN(saysWhatTheDeviceHas);
  RUN(usesAgainWhatIsOnItsWay);
  RUN(freesInHostFunctions);
  RUN(servesThreads);
  RUN(namesAMissingDevice);
  RUN(needsPools);
  return test::failures() != 0;
}

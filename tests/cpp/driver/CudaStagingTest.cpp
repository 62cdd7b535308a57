// Copies through page-locked memory, over the emulated driver: they do not wait for the stream, and their blocks are
// reused.
#include "driver/EmulatedDriver.h"
#include "driver/Staging.h"

#include <cstring>
#include <numeric>

using namespace pcrt;
using namespace pcrt::cuda;
using test::gateOpen, test::waitAtGate;

namespace {
struct Fixture : test::StreamInUse {
  Fixture() {
    auto created = Completions::create(context, stream);
    REQUIRE(created.isOk());
    completions = created.take();
    staging = std::make_unique<Staging>(context, stream, *completions);
    REQUIRE(driver.cuMemAllocAsync(&memory, bytes, stream) == CUDA_SUCCESS);
  }
  ~Fixture() {
    synchronize();
    CHECK(staging->cachedBytes() == staging->lockedBytes());
    staging = nullptr;
    completions = nullptr;
    CHECK(driver.cuMemFreeAsync(memory, stream) == CUDA_SUCCESS && driver.cuStreamDestroy(stream) == CUDA_SUCCESS);
  }
  void block() {
    gateOpen = false;
    CHECK(driver.cuLaunchHostFunc(stream, waitAtGate, nullptr) == CUDA_SUCCESS);
  }
  void synchronize() {
    CHECK(driver.cuStreamSynchronize(stream) == CUDA_SUCCESS);
    completions->drain();
  }

  static constexpr size_t bytes = size_t(1) << 20;
  CUdeviceptr memory = 0;
  std::unique_ptr<Completions> completions;
  std::unique_ptr<Staging> staging;
};
} // namespace

static void copiesWithoutWaiting() {
  Fixture fixture;
  Staging &staging = *fixture.staging;
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  // If it waited for the stream, it would wait forever.
  fixture.block();
  CHECK(staging.upload(fixture.memory, values.data(), 4000).isOk());
  std::fill(values.begin(), values.end(), -1);
  CHECK(staging.upload(fixture.memory + 8, values.data(), 4).isOk() && staging.upload(0, nullptr, 0).isOk());
  Result<void *> block = staging.download(fixture.memory, 4000);
  REQUIRE(block.isOk());
  gateOpen = true;
  fixture.synchronize();
  std::memcpy(values.data(), block.value(), 4000);
  CHECK(values[1] == 1 && values[2] == -1 && values[999] == 999);
  staging.release(block.value());
}

static void keepsBlocks() {
  Fixture fixture;
  Staging &staging = *fixture.staging;
  std::vector<char> values(100000, 7);
  uint64_t before = CONTROL(emulatorCallCount)("cuMemAllocHost");
  for (int round = 0; round < 5; ++round) {
    CHECK(staging.upload(fixture.memory, values.data(), values.size() - 1000 * round).isOk());
    fixture.synchronize();
  }
  Result<void *> block = staging.download(fixture.memory, 70000);
  CHECK(block.isOk() && CONTROL(emulatorCallCount)("cuMemAllocHost") == before + 1);
  CHECK(staging.lockedBytes() == 131072 && staging.cachedBytes() == 0);
  // A much larger block is not used for a small copy.
  fixture.synchronize();
  staging.release(block.value());
  Result<void *> small = staging.download(fixture.memory, 100);
  CHECK(small.isOk() && staging.lockedBytes() == 131072 + 4096 && staging.cachedBytes() == 131072);
  fixture.synchronize();
  staging.release(small.value());
  staging.trim();
  CHECK(staging.lockedBytes() == 0);
}

static void doesWithoutBlocks() {
  Fixture fixture;
  int value = 41, got = 0;
  CONTROL(emulatorFailAllocationsAfter)(0);
  CHECK(fixture.staging->upload(fixture.memory, &value, 4).isOk());
  Result<void *> refused = fixture.staging->download(fixture.memory, 4);
  CONTROL(emulatorReset)();
  CHECK(!refused.isOk() && refused.status().code() == Code::OutOfMemory &&
        refused.status().message().find("cannot lock 4.0 KiB of the host's memory for a copy (0 bytes are locked)") ==
            0);
  CHECK(fixture.driver.cuMemcpyDtoHAsync(&got, fixture.memory, 4, fixture.stream) == CUDA_SUCCESS && got == 41);
}

static void servesThreads() {
  Fixture fixture;
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      CUdeviceptr own = fixture.memory + 65536 * static_cast<unsigned>(number);
      for (int round = 0; round < 50; ++round) {
        std::vector<int> values(100 * (round % 7 + 1), 1000 * number + round);
        size_t bytes = 4 * values.size();
        CHECK(fixture.staging->upload(own, values.data(), bytes).isOk());
        Result<void *> block = fixture.staging->download(own, bytes);
        fixture.synchronize();
        good += block.isOk() && std::memcmp(block.value(), values.data(), bytes) == 0;
        fixture.staging->release(block.value());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 200);
}

static void refusesWrongAddresses() {
  Fixture fixture;
  int value = 0;
  Status status = fixture.staging->upload(fixture.memory + Fixture::bytes, &value, 4);
  CHECK(!status.isOk() && status.message().find("cuMemcpyHtoDAsync failed: invalid argument") == 0);
  CHECK(!fixture.staging->download(16, 4).isOk());
}

int main() {
  RUN(copiesWithoutWaiting);
  RUN(keepsBlocks);
  RUN(doesWithoutBlocks);
  RUN(servesThreads);
  RUN(refusesWrongAddresses);
  return test::failures() != 0;
}

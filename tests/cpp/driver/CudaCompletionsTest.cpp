// Notifications of the host by a CUDA stream, over the emulated driver: in order, in threads that may call the driver,
// and also on a device that a kernel has broken.
#include "driver/Completions.h"
#include "driver/EmulatedDriver.h"
#include "runtime/Token.h"

using namespace pcrt;
using namespace pcrt::cuda;
using test::gateOpen, test::waitAtGate;

namespace {
struct Fixture : test::StreamInUse {
  Fixture() {
    auto created = Completions::create(context, stream);
    REQUIRE(created.isOk());
    completions = created.take();
  }
  ~Fixture() {
    completions = nullptr;
    CHECK(driver.cuStreamDestroy(stream) == CUDA_SUCCESS);
  }
  void block() {
    gateOpen = false;
    CHECK(driver.cuLaunchHostFunc(stream, waitAtGate, nullptr) == CUDA_SUCCESS);
  }

  std::unique_ptr<Completions> completions;
};

/// A token that is done with the stream.
struct DeviceToken : Token, Completion {
  void done(const Status &status) override {
    order = ++counter;
    complete(status.isOk() ? nullptr : RefPtr<Error>::adopt(new Error(status, "kernel", "file.py:3")));
  }
  int order = 0;
  static inline std::atomic<int> counter{0};
};
} // namespace

static RefPtr<DeviceToken> newToken() { return RefPtr<DeviceToken>::adopt(new DeviceToken()); }

static void tellsInOrder() {
  Fixture fixture;
  std::vector<RefPtr<DeviceToken>> tokens;
  int before = DeviceToken::counter;
  fixture.block();
  for (int number = 0; number < 50; ++number) {
    tokens.push_back(newToken());
    CHECK(fixture.completions->add(*tokens.back()).isOk());
  }
  CHECK(fixture.completions->pending() == 50 && !tokens.front()->isDone());
  gateOpen = true;
  CHECK(tokens.back()->wait());
  for (int number = 0; number < 50; ++number)
    CHECK(tokens[number]->isDone() && !tokens[number]->error() && tokens[number]->order == before + number + 1);
  fixture.completions->drain();
  CHECK(fixture.completions->pending() == 0);
  // Events serve again.
  uint64_t created = CONTROL(emulatorCallCount)("cuEventCreate");
  for (int number = 0; number < 20; ++number)
    CHECK(fixture.completions->add(*tokens.emplace_back(newToken())).isOk());
  fixture.completions->drain();
  CHECK(CONTROL(emulatorCallCount)("cuEventCreate") == created);
}

static void letsTheDriverBeCalled() {
  struct Freer : Completion {
    void done(const Status &) override { result = fixture->driver.cuMemFreeAsync(pointer, fixture->stream); }
    Fixture *fixture;
    CUdeviceptr pointer = 0;
    CUresult result = CUDA_ERROR_NOT_READY;
  } freer;
  {
    Fixture fixture;
    freer.fixture = &fixture;
    CHECK(fixture.driver.cuMemAllocAsync(&freer.pointer, 4, fixture.stream) == CUDA_SUCCESS);
    CHECK(fixture.completions->add(freer).isOk());
  }
  CHECK(freer.result == CUDA_SUCCESS);
}

/// A waiting thread completes what the device has finished, in the order of the stream.
static void waitersHelp() {
  Fixture fixture;
  std::atomic<bool> isOver{false};
  std::vector<std::thread> helpers;
  for (int number = 0; number < 3; ++number)
    helpers.emplace_back([&] {
      while (!isOver)
        fixture.completions->help();
    });
  for (int round = 0; round < 20; ++round) {
    std::vector<RefPtr<DeviceToken>> tokens;
    int before = DeviceToken::counter;
    fixture.block();
    for (int number = 0; number < 20; ++number)
      CHECK(fixture.completions->add(*tokens.emplace_back(newToken())).isOk());
    CHECK(!tokens.front()->isDone());
    gateOpen = true;
    fixture.completions->drain();
    for (int number = 0; number < 20; ++number)
      CHECK(tokens[number]->isDone() && tokens[number]->order == before + number + 1);
  }
  isOver = true;
  for (std::thread &thread : helpers)
    thread.join();
}

static void hearsThreads() {
  Fixture fixture;
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        RefPtr<DeviceToken> token = newToken();
        CHECK(fixture.completions->add(*token).isOk());
        good += token->wait() && !token->error();
        // The notifying thread may still be in it.
        fixture.completions->drain();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 200);
}

/// Every waiter is notified: those before the kernel of success, the others of its failure.
[[maybe_unused]] static void tellsThatTheDeviceIsLost() {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  std::string image = test::readFile(EMULATED_KERNELS);
  Result<CUmodule> module = driver.loadModule(image.data());
  REQUIRE(module.isOk());
  CUfunction stray;
  REQUIRE(driver.cuModuleGetFunction(&stray, module.value(), "stray") == CUDA_SUCCESS);
  RefPtr<DeviceToken> before = newToken(), after = newToken(), later = newToken();
  CHECK(fixture.completions->add(*before).isOk() && before->wait() && !before->error());
  fixture.block();
  uint64_t nowhere = 16;
  void *params[] = {&nowhere};
  CHECK(driver.cuLaunchKernel(stray, 1, 1, 1, 1, 1, 1, 0, fixture.stream, params, nullptr) == CUDA_SUCCESS);
  CHECK(fixture.completions->add(*after).isOk());
  gateOpen = true;
  CHECK(after->wait());
  REQUIRE(after->error());
  CHECK(after->error()->text().find("kernel: waiting for the device failed: an illegal memory access") == 0);
  CHECK(!fixture.completions->add(*later).isOk() && !later->isDone());
  fixture.completions->drain();
  CONTROL(emulatorReset)();
  CHECK(driver.cuModuleUnload(module.value()) == CUDA_SUCCESS);
}

int main() {
  RUN(tellsInOrder);
  RUN(letsTheDriverBeCalled);
  RUN(waitersHelp);
  RUN(hearsThreads);
  // As in CudaDriverTest: sanitizers mistake a signal that the emulator leaves by switching stacks for an endless one.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  RUN(tellsThatTheDeviceIsLost);
#endif
  return test::failures() != 0;
}

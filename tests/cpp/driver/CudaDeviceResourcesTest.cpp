// A CUDA device's parts together, over the emulated driver: arrays are uploaded, kernels run one after the other,
// results are read, and no host thread waits in between.
#include "driver/DeviceResources.h"
#include "driver/EmulatedDriver.h"
#include "runtime/BufferPool.h"
#include "runtime/Token.h"

#include <numeric>

using namespace pcrt;
using namespace pcrt::cuda;

static std::unique_ptr<DeviceResources> device(int number) {
  auto made = DeviceResources::create(test::emulatedDriver(), number);
  if (!made.isOk())
    std::fprintf(stderr, "%s\n", made.status().message().c_str());
  REQUIRE(made.isOk());
  return made.take();
}

static std::unique_ptr<KernelModule> kernels(DeviceResources &device, const std::vector<std::string> &names) {
  static const std::string image = test::readFile(EMULATED_KERNELS);
  auto loaded = KernelModule::load(device.context(), image, names);
  REQUIRE(loaded.isOk());
  return loaded.take();
}

namespace {
struct DeviceToken : Token, Completion {
  void done(const Status &status) override {
    complete(status.isOk() ? nullptr : RefPtr<Error>::adopt(new Error(status, "program", "model.py:7")));
  }
};
} // namespace

using test::gateOpen;

static void runsPrograms() {
  for (int number : {0, 1}) {
    auto own = device(number);
    CHECK(own->properties().name == "Emulated device " + std::to_string(number));
    auto module = kernels(*own, {"places", "sum"});
    gateOpen = false;
    auto wait = [](void *) {
      while (!gateOpen)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    CHECK(own->context().driver().cuLaunchHostFunc(own->stream(), wait, nullptr) == CUDA_SUCCESS);

    std::vector<int> values(256);
    std::iota(values.begin(), values.end(), 0);
    CUdeviceptr input = own->memory().allocate(1024).take(), sums = own->memory().allocate(8).take();
    CHECK(own->staging().upload(input, values.data(), 1024).isOk());
    void *sumParams[] = {&input, &sums}, *placesParams[] = {&input};
    CHECK(module->launch(1, {{2, 1, 1}, {128, 1, 1}, {1, 1, 1}, 16}, own->stream(), sumParams).isOk());
    Result<void *> first = own->staging().download(sums, 8);
    CHECK(module->launch(0, {{2, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0}, own->stream(), placesParams).isOk());
    CHECK(module->launch(1, {{2, 1, 1}, {128, 1, 1}, {1, 1, 1}, 16}, own->stream(), sumParams).isOk());
    Result<void *> second = own->staging().download(sums, 8);
    own->memory().free(input);
    own->memory().free(sums);
    auto token = RefPtr<DeviceToken>::adopt(new DeviceToken());
    CHECK(own->completions().add(*token).isOk() && !token->isDone());
    gateOpen = true;

    CHECK(token->wait() && !token->error() && first.isOk() && second.isOk());
    const int *before = static_cast<int *>(first.value()), *after = static_cast<int *>(second.value());
    CHECK(before[0] == 127 * 64 && before[1] == 127 * 64 + 128 * 128 && after[0] == 129 * 64);
    own->staging().release(first.value());
    own->staging().release(second.value());
    CHECK(own->synchronize().isOk() && own->memory().statistics().liveBuffers == 0);
  }
}

static void saysWhatADeviceLacks() {
  auto none = DeviceResources::create(test::emulatedDriver(), 9);
  CHECK(!none.isOk() && none.status().message().find("cuDeviceGet failed: invalid device ordinal") == 0);
  setenv("PYCOMPILER_EMULATED_POOLS", "0", 1);
  auto poor = DeviceResources::create(test::emulatedDriver(), 0);
  unsetenv("PYCOMPILER_EMULATED_POOLS");
  CHECK(!poor.isOk() && poor.status().message().find("cuda:0 has no memory pools") == 0);
}

/// From then on every call fails, and every destruction still works.
[[maybe_unused]] static void outlivesALostDevice() {
  {
    auto own = device(1);
    auto module = kernels(*own, {"stray"});
    CUdeviceptr memory = own->memory().allocate(64).take();
    uint64_t nowhere = 16, value = 0;
    void *params[] = {&nowhere};
    CHECK(module->launch(0, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, own->stream(), params).isOk());
    auto token = RefPtr<DeviceToken>::adopt(new DeviceToken());
    bool told = own->completions().add(*token).isOk();
    CHECK(!told || (token->wait() && token->error()));
    Status status = own->synchronize();
    CHECK(!status.isOk() && status.message().find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos);
    CHECK(!own->memory().allocate(4).isOk() && !own->staging().upload(memory, &value, 8).isOk());
    own->memory().free(memory);
    // The other device works on.
    auto other = device(0);
    CHECK(other->memory().allocate(4).isOk() && other->synchronize().isOk());
  }
  CONTROL(emulatorReset)();
}

int main() {
  setenv("PYCOMPILER_EMULATED_DEVICES", "2", 1);
  setenv("PYCOMPILER_EMULATED_MEMORY", "67108864", 1);
  RUN(runsPrograms);
  RUN(saysWhatADeviceLacks);
  // As in CudaDriverTest: sanitizers mistake a signal that the emulator leaves by switching stacks for an endless one.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  RUN(outlivesALostDevice);
#endif
  return test::failures() != 0;
}

// Kernels by number on a CUDA device, over the emulated driver: launched in any thread, and failures name the kernel.
#include "driver/EmulatedDriver.h"
#include "driver/KernelModule.h"

#include <thread>

using namespace pcrt;
using namespace pcrt::cuda;

static bool contains(const Status &status, const char *part) {
  bool found = !status.isOk() && status.message().find(part) != std::string::npos;
  if (!found)
    std::fprintf(stderr, "message: %s\n", status.message().c_str());
  return found;
}

namespace {
struct Fixture : test::StreamInUse {
  Fixture() { REQUIRE(driver.cuMemAllocAsync(&memory, 4096, stream) == CUDA_SUCCESS); }
  ~Fixture() {
    module = nullptr;
    CHECK(driver.cuMemFreeAsync(memory, stream) == CUDA_SUCCESS);
    CHECK(driver.cuStreamSynchronize(stream) == CUDA_SUCCESS && driver.cuStreamDestroy(stream) == CUDA_SUCCESS);
  }
  Status load(const std::vector<std::string> &kernels) {
    static const std::string image = test::readFile(EMULATED_KERNELS);
    auto loaded = KernelModule::load(context, image, kernels);
    if (!loaded.isOk())
      return Status(loaded.status().code(), loaded.status().message());
    module = loaded.take();
    return Status::ok();
  }
  std::vector<uint32_t> values(size_t count) {
    std::vector<uint32_t> result(count);
    CHECK(driver.cuMemcpyDtoHAsync(result.data(), memory, 4 * count, stream) == CUDA_SUCCESS);
    return result;
  }

  CUdeviceptr memory = 0;
  std::unique_ptr<KernelModule> module;
};
} // namespace

static void launchesByNumber() {
  Fixture fixture;
  REQUIRE(fixture.load({"own", "places"}).isOk());
  CHECK(fixture.module->kernelCount() == 2);
  void *params[] = {&fixture.memory};
  // In a thread without a context.
  std::thread([&] {
    CHECK(fixture.module->launch(1, {{5, 2, 1}, {3, 1, 2}, {1, 1, 1}, 0}, fixture.stream, params).isOk());
  }).join();
  std::vector<uint32_t> got = fixture.values(60);
  CHECK(got[0] == 1 && got[59] == 60);
  CHECK(fixture.module->launch(0, {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 256}, fixture.stream, params).isOk());
  CHECK(fixture.values(64)[0] == 63 * 1001);
}

static void recursiveFunctionsHaveAStack() {
  Fixture fixture;
  REQUIRE(fixture.driver.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024) == CUDA_SUCCESS);
  REQUIRE(fixture.load({"own"}).isOk());
  size_t bytes = 0;
  CHECK(fixture.driver.cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS);
  CHECK(bytes == PCRT_RECURSIVE_STACK_BYTES);
}

static void leavesOutEmptyGrids() {
  Fixture fixture;
  REQUIRE(fixture.load({"places"}).isOk());
  uint64_t before = CONTROL(emulatorCallCount)("cuLaunchKernel");
  CHECK(fixture.module->launch(0, {{1, 0, 1}, {64, 1, 1}, {1, 1, 1}, 0}, fixture.stream, nullptr).isOk());
  CHECK(CONTROL(emulatorCallCount)("cuLaunchKernel") == before);
}

static void asksForSharedMemory() {
  Fixture fixture;
  REQUIRE(fixture.load({"places"}).isOk());
  void *params[] = {&fixture.memory};
  uint64_t before = CONTROL(emulatorCallCount)("cuFuncSetAttribute");
  for (uint32_t kibibytes : {48, 100, 60, 100, 200})
    CHECK(
        fixture.module->launch(0, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, kibibytes << 10}, fixture.stream, params).isOk());
  CHECK(CONTROL(emulatorCallCount)("cuFuncSetAttribute") == before + 2);
  Status status = fixture.module->launch(0, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 228 << 10}, fixture.stream, params);
  CHECK(contains(status, "kernel 'places', a grid of 1 x 1 x 1 blocks of 32 x 1 x 1 threads with 228.0 KiB of shared "
                         "memory: cuFuncSetAttribute failed: invalid argument (CUDA_ERROR_INVALID_VALUE, 1)"));
}

static void refusesByName() {
  Fixture fixture;
  CHECK(contains(fixture.load({"places", "absent"}),
                 "kernel 'absent': cuModuleGetFunction failed: named symbol not found (CUDA_ERROR_NOT_FOUND, 500)"));
  REQUIRE(fixture.load({"places"}).isOk());
  void *params[] = {&fixture.memory};
  CHECK(contains(fixture.module->launch(0, {{1, 1, 1}, {1025, 1, 1}, {1, 1, 1}, 0}, fixture.stream, params),
                 "kernel 'places', a grid of 1 x 1 x 1 blocks of 1025 x 1 x 1 threads with 0 bytes of shared memory: "
                 "cuLaunchKernel failed: invalid argument"));
  CHECK(contains(fixture.module->launch(0, {{4, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0}, fixture.stream, params),
                 "a grid of 4 x 1 x 1 blocks in clusters of 2 x 1 x 1 of 32 x 1 x 1 threads with 0 bytes of shared "
                 "memory: cuLaunchKernelEx failed: operation not supported"));
  auto none = KernelModule::load(fixture.context, "no module", {"places"});
  CHECK(contains(none.status(), "cuModuleLoadDataEx failed: device kernel image is invalid"));
}

int main() {
  RUN(launchesByNumber);
  RUN(recursiveFunctionsHaveAStack);
  RUN(leavesOutEmptyGrids);
  RUN(asksForSharedMemory);
  RUN(refusesByName);
  return test::failures() != 0;
}

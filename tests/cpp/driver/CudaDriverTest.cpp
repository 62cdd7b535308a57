// The table of the CUDA driver's functions, over the emulated driver: missing parts are reported, work runs in the
// order of streams, kernels meet at barriers and shuffles, and failures become statuses.
#include "driver/EmulatedDriver.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pcrt;
using namespace pcrt::cuda;
using test::emulatedDriver;

#define OK(call) CHECK(test::succeeds(call, #call))

namespace test {
static bool succeeds(CUresult result, const char *call) {
  if (result != CUDA_SUCCESS)
    std::fprintf(stderr, "%s\n", emulatedDriver().check(result, call).message().c_str());
  return result == CUDA_SUCCESS;
}
} // namespace test

static bool contains(const std::string &text, const char *part) {
  bool found = text.find(part) != std::string::npos;
  if (!found)
    std::fprintf(stderr, "message: %s\n", text.c_str());
  return found;
}

namespace {
/// Device 0 made current, a stream, and the kernels.
struct Fixture {
  Fixture() {
    OK(driver.cuDevicePrimaryCtxRetain(&context, 0));
    OK(driver.cuCtxSetCurrent(context));
    OK(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  ~Fixture() {
    if (module)
      driver.cuModuleUnload(module);
    driver.cuStreamSynchronize(stream);
    driver.cuStreamDestroy(stream);
  }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr pointer = 0;
    OK(driver.cuMemAllocAsync(&pointer, bytes, stream));
    return pointer;
  }
  template <typename T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr pointer = allocate(values.size() * sizeof(T));
    OK(driver.cuMemcpyHtoDAsync(pointer, values.data(), values.size() * sizeof(T), stream));
    return pointer;
  }
  template <typename T> std::vector<T> download(CUdeviceptr pointer, size_t count) {
    std::vector<T> values(count);
    OK(driver.cuMemcpyDtoHAsync(values.data(), pointer, count * sizeof(T), stream));
    OK(driver.cuStreamSynchronize(stream));
    return values;
  }
  CUfunction kernel(const char *name) {
    if (!module) {
      static const std::string image = test::readFile(EMULATED_KERNELS);
      Result<CUmodule> loaded = driver.loadModule(image.data());
      if (!loaded.isOk())
        std::fprintf(stderr, "%s\n", loaded.status().message().c_str());
      REQUIRE(loaded.isOk());
      module = loaded.value();
    }
    CUfunction function = nullptr;
    OK(driver.cuModuleGetFunction(&function, module, name));
    return function;
  }
  CUresult launch(const char *name, unsigned grid, unsigned block, unsigned sharedBytes, std::vector<void *> params) {
    return driver.cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, sharedBytes, stream, params.data(), nullptr);
  }

  const Driver &driver = emulatedDriver();
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
};
} // namespace

//===-- Loading
//-----------------------------------------------------------------------------------------------------===//

static void describesTheDevice() {
  const Driver &driver = emulatedDriver();
  CHECK(driver.version() == 12080 && driver.deviceCount() == 2 && driver.library() == EMULATED_DRIVER);
  CHECK(Driver::get().value() == &driver);
  Result<DeviceProperties> found = driver.properties(1);
  REQUIRE(found.isOk());
  const DeviceProperties &one = found.value();
  CHECK(one.name == "Emulated device 1" && one.major == 8 && one.minor == 6 && one.totalBytes == uint64_t(64) << 20);
  CHECK(one.multiprocessors > 0 && one.sharedBytes == 49152 && one.maxSharedBytes > one.sharedBytes);
  Result<DeviceProperties> none = driver.properties(2);
  CHECK(!none.isOk() && contains(none.status().message(), "cuDeviceGetName failed: invalid device ordinal "
                                                          "(CUDA_ERROR_INVALID_DEVICE, 101)"));
}

static void saysWhatIsMissing() {
  auto messageOf = [](const char *library) {
    auto loaded = Driver::load(library);
    CHECK(!loaded.isOk() && loaded.status().code() == Code::LibraryFailed);
    return loaded.status().message();
  };
  CHECK(contains(messageOf("/nowhere/libcuda.so.1"), "no CUDA driver: cannot load /nowhere/libcuda.so.1"));
  CHECK(contains(messageOf("libm.so.6"), "libm.so.6 has no function cuInit"));
  setenv("PYCOMPILER_EMULATED_VERSION", "11040", 1);
  CHECK(contains(messageOf(EMULATED_DRIVER), "supports CUDA 11.4, and 12.0 or newer is needed"));
  unsetenv("PYCOMPILER_EMULATED_VERSION");
  setenv("PYCOMPILER_EMULATED_DEVICES", "0", 1);
  CHECK(contains(messageOf(EMULATED_DRIVER), "no CUDA device"));
  setenv("PYCOMPILER_EMULATED_DEVICES", "2", 1);
  CHECK(Driver::load(EMULATED_DRIVER).isOk());
}

static void wantsAContext() {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  std::thread([&] {
    CUdeviceptr pointer;
    CHECK(driver.cuMemAllocAsync(&pointer, 4, fixture.stream) == CUDA_ERROR_INVALID_CONTEXT);
    CUcontext other;
    OK(driver.cuDevicePrimaryCtxRetain(&other, 1));
    OK(driver.cuCtxSetCurrent(other));
    CHECK(driver.cuMemAllocAsync(&pointer, 4, fixture.stream) == CUDA_ERROR_INVALID_HANDLE);
  }).join();
}

//===-- Memory
//------------------------------------------------------------------------------------------------------===//

static void copiesInOrder() {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  CUdeviceptr first = fixture.upload(values), second = fixture.allocate(4000);
  // Pageable memory may be reused at once.
  std::fill(values.begin(), values.end(), -1);
  OK(driver.cuMemcpyDtoDAsync(second, first, 4000, fixture.stream));
  OK(driver.cuMemsetD8Async(first, 0x11, 2000, fixture.stream));
  OK(driver.cuMemsetD32Async(second + 3996, 77, 1, fixture.stream));
  std::vector<int> got = fixture.download<int>(second, 1000), old = fixture.download<int>(first, 1000);
  CHECK(got[0] == 0 && got[998] == 998 && got[999] == 77 && old[0] == 0x11111111 && old[500] == 500);
  CHECK(driver.cuMemcpyDtoHAsync(got.data(), second, 100000, fixture.stream) == CUDA_ERROR_INVALID_VALUE);
  OK(driver.cuMemFreeAsync(first, fixture.stream));
  CHECK(driver.cuMemFreeAsync(first, fixture.stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(driver.cuMemsetD8Async(first, 0, 1, fixture.stream) == CUDA_ERROR_INVALID_VALUE);
  OK(driver.cuMemFreeAsync(second, fixture.stream));
}

/// In a separate process: the invalid read must not end this one.
static void keepsTheHostOut() {
  Fixture fixture;
  CUdeviceptr pointer = fixture.upload(std::vector<int>{1, 2, 3});
  CHECK(fixture.download<int>(pointer, 3)[1] == 2);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(*reinterpret_cast<volatile int *>(pointer));
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  OK(fixture.driver.cuMemFreeAsync(pointer, fixture.stream));
}

/// The contents of new and freed memory are unspecified: it is NaN when it is new, and something else when it was
/// freed.
static void spoilsMemory() {
  Fixture fixture;
  CUdeviceptr pointer = fixture.upload(std::vector<int>{1, 2});
  OK(fixture.driver.cuMemFreeAsync(pointer, fixture.stream));
  OK(fixture.driver.cuStreamSynchronize(fixture.stream));
  CUdeviceptr again = fixture.allocate(8);
  CHECK(again == pointer && fixture.download<uint32_t>(again, 2)[1] == UINT32_MAX);
  OK(fixture.driver.cuMemFreeAsync(again, fixture.stream));
}

static void copiesBetweenDevices() {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  CUdeviceptr here = fixture.upload(std::vector<int>{5, 6, 7}), there = 0;
  OK(driver.cuStreamSynchronize(fixture.stream));
  CUcontext other;
  CUstream stream;
  OK(driver.cuDevicePrimaryCtxRetain(&other, 1));
  OK(driver.cuCtxSetCurrent(other));
  OK(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(driver.cuMemAllocAsync(&there, 12, stream));
  CHECK(driver.cuMemcpyDtoDAsync(there, here, 12, stream) == CUDA_ERROR_INVALID_VALUE);
  OK(driver.cuMemcpyPeerAsync(there, other, here, fixture.context, 12, stream));
  OK(driver.cuCtxSynchronize());
  int got[3] = {};
  OK(driver.cuMemcpyDtoHAsync(got, there, 12, stream));
  CHECK(got[0] == 5 && got[2] == 7);
  OK(driver.cuMemFreeAsync(there, stream));
  OK(driver.cuStreamDestroy(stream));
  OK(driver.cuCtxSetCurrent(fixture.context));
  OK(driver.cuMemFreeAsync(here, fixture.stream));
}

static void countsMemory() {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  OK(driver.cuStreamSynchronize(fixture.stream));
  CUmemoryPool pool;
  OK(driver.cuDeviceGetDefaultMemPool(&pool, 0));
  auto get = [&](CUmemPool_attribute attribute) {
    uint64_t value = 0;
    OK(driver.cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
  };
  uint64_t none = 0, all = UINT64_MAX, before = get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  OK(driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &none));
  OK(driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
  CUdeviceptr large = fixture.allocate(8 << 20);
  CHECK(get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == before + (8 << 20));
  OK(driver.cuMemFreeAsync(large, fixture.stream));
  OK(driver.cuStreamSynchronize(fixture.stream));
  CHECK(get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == before && get(CU_MEMPOOL_ATTR_USED_MEM_HIGH) == before + (8 << 20));
  CHECK(get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 8 << 20);
  OK(driver.cuMemPoolTrimTo(pool, 0));
  CHECK(get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) < 8 << 20);
}

static void runsOutOfMemory() {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  CUdeviceptr pointer = 0, rest = 0;
  Status status = driver.check(driver.cuMemAllocAsync(&pointer, size_t(1) << 30, fixture.stream), "cuMemAllocAsync");
  CHECK(status.code() == Code::OutOfMemory &&
        contains(status.message(), "cuMemAllocAsync failed: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)"));
  // Memory that was freed earlier in the stream's order is available again.
  for (int round = 0; round < 3; ++round) {
    pointer = fixture.allocate(size_t(48) << 20);
    OK(driver.cuMemFreeAsync(pointer, fixture.stream));
  }
  CONTROL(emulatorFailAllocationsAfter)(1000);
  pointer = fixture.allocate(600);
  CHECK(driver.cuMemAllocAsync(&rest, 600, fixture.stream) == CUDA_ERROR_OUT_OF_MEMORY);
  CONTROL(emulatorReset)();
  rest = fixture.allocate(600);
  OK(driver.cuMemFreeAsync(pointer, fixture.stream));
  OK(driver.cuMemFreeAsync(rest, fixture.stream));
}

//===-- Streams, events, host functions
//-----------------------------------------------------------------------------===//

using test::gateOpen, test::waitAtGate;

static void ordersStreamsByEvents() {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  CUstream other;
  CUevent event, after;
  OK(driver.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(driver.cuEventCreate(&event, CU_EVENT_DEFAULT));
  OK(driver.cuEventCreate(&after, CU_EVENT_DEFAULT));
  OK(driver.cuEventQuery(event));
  CUdeviceptr memory = fixture.allocate(4);
  int *pinned = nullptr;
  OK(driver.cuMemAllocHost(reinterpret_cast<void **>(&pinned), 4));
  *pinned = 0;
  gateOpen = false;
  OK(driver.cuLaunchHostFunc(fixture.stream, waitAtGate, nullptr));
  OK(driver.cuMemsetD8Async(memory, 5, 4, fixture.stream));
  OK(driver.cuEventRecord(event, fixture.stream));
  OK(driver.cuStreamWaitEvent(other, event, 0));
  OK(driver.cuMemcpyDtoHAsync(pinned, memory, 4, other));
  OK(driver.cuEventRecord(after, other));
  CHECK(driver.cuEventQuery(event) == CUDA_ERROR_NOT_READY && driver.cuStreamQuery(other) == CUDA_ERROR_NOT_READY);
  float milliseconds = -1;
  CHECK(driver.cuEventElapsedTime(&milliseconds, event, after) == CUDA_ERROR_NOT_READY && *pinned == 0);
  gateOpen = true;
  OK(driver.cuEventSynchronize(after));
  OK(driver.cuEventQuery(event));
  OK(driver.cuEventElapsedTime(&milliseconds, event, after));
  CHECK(*pinned == 0x05050505 && milliseconds >= 0);
  OK(driver.cuMemFreeHost(pinned));
  CHECK(driver.cuMemFreeHost(pinned) == CUDA_ERROR_INVALID_VALUE);
  OK(driver.cuMemFreeAsync(memory, other));
  OK(driver.cuEventDestroy(event));
  OK(driver.cuEventDestroy(after));
  OK(driver.cuStreamDestroy(other));
}

static void refusesCallsInHostFunctions() {
  Fixture fixture;
  static CUresult inside;
  OK(fixture.driver.cuLaunchHostFunc(
      fixture.stream, [](void *own) { inside = emulatedDriver().cuStreamQuery(static_cast<CUstream>(own)); },
      fixture.stream));
  OK(fixture.driver.cuStreamSynchronize(fixture.stream));
  CHECK(inside == CUDA_ERROR_NOT_PERMITTED);
}

//===-- Kernels
//-----------------------------------------------------------------------------------------------------===//

static void runsKernels() {
  Fixture fixture;
  const size_t count = 1000;
  std::vector<float> x(count), y(count, 1);
  std::iota(x.begin(), x.end(), 0.f);
  CUdeviceptr deviceX = fixture.upload(x), deviceY = fixture.upload(y);
  // The launch copies the values: they may change at once.
  gateOpen = false;
  OK(fixture.driver.cuLaunchHostFunc(fixture.stream, waitAtGate, nullptr));
  float a = 2;
  uint64_t size = count, before = CONTROL(emulatorCallCount)("cuLaunchKernel");
  OK(fixture.launch("axpy", 8, 128, 0, {&a, &deviceX, &deviceY, &size}));
  a = 1000;
  size = 0;
  gateOpen = true;
  y = fixture.download<float>(deviceY, count);
  bool right = true;
  for (size_t i = 0; i < count; ++i)
    right = right && y[i] == 2 * static_cast<float>(i) + 1;
  CHECK(right && CONTROL(emulatorCallCount)("cuLaunchKernel") == before + 1);

  CUdeviceptr numbers = fixture.allocate(4 * 2 * 3 * 2 * 4 * 3 * 2);
  std::vector<void *> params = {&numbers};
  OK(fixture.driver.cuLaunchKernel(fixture.kernel("places"), 2, 3, 2, 4, 3, 2, 0, fixture.stream, params.data(),
                                   nullptr));
  std::vector<uint32_t> got = fixture.download<uint32_t>(numbers, 288);
  for (uint32_t i = 0; i < 288; ++i)
    right = right && got[i] == i + 1;
  CHECK(right);
  for (CUdeviceptr pointer : {deviceX, deviceY, numbers})
    OK(fixture.driver.cuMemFreeAsync(pointer, fixture.stream));
}

static void meetsAtBarriers() {
  Fixture fixture;
  for (unsigned block : {1u, 7u, 256u, 1024u}) {
    std::vector<int> values(3 * block);
    std::iota(values.begin(), values.end(), 0);
    CUdeviceptr memory = fixture.upload(values);
    OK(fixture.launch("reverse", 3, block, 4 * block, {&memory}));
    std::vector<int> got = fixture.download<int>(memory, 3 * block);
    bool right = true;
    for (unsigned i = 0; i < 3 * block; ++i)
      right = right && got[i] == static_cast<int>(i / block * block + block - 1 - i % block);
    CHECK(right);
    OK(fixture.driver.cuMemFreeAsync(memory, fixture.stream));
  }
}

/// A barrier that is missing shows.
static void showsRaces() {
  Fixture fixture;
  CUdeviceptr memory = fixture.upload(std::vector<int>(64, 5));
  OK(fixture.launch("hasty", 1, 64, 256, {&memory}));
  std::vector<int> got = fixture.download<int>(memory, 64);
  CHECK(got[0] == -1 && got[63] == 5);
  OK(fixture.driver.cuMemFreeAsync(memory, fixture.stream));
}

static void hasSharedMemoryOfItsOwn() {
  Fixture fixture;
  CUdeviceptr memory = fixture.allocate(256);
  OK(fixture.launch("own", 1, 64, 256, {&memory}));
  std::vector<int> got = fixture.download<int>(memory, 64);
  CHECK(got[0] == 63 * 1001 && got[60] == 3 * 1001);
  OK(fixture.driver.cuMemFreeAsync(memory, fixture.stream));
}

static void shuffles() {
  Fixture fixture;
  std::vector<int> values(4 * 256);
  std::iota(values.begin(), values.end(), -100);
  CUdeviceptr memory = fixture.upload(values), sums = fixture.allocate(16);
  OK(fixture.launch("sum", 4, 256, 32, {&memory, &sums}));
  std::vector<int> got = fixture.download<int>(sums, 4);
  for (int block = 0; block < 4; ++block)
    CHECK(got[block] == std::accumulate(values.begin() + 256 * block, values.begin() + 256 * (block + 1), 0));

  struct {
    int32_t mode;
    uint32_t offset, width, block, lane, value, valid;
  } const cases[] = {{0, 1, 32, 32, 6, 107, 1},        {0, 16, 16, 32, 3, 103, 0}, {1, 2, 32, 32, 5, 103, 1},
                     {1, 2, 32, 32, 1, 101, 0},        {2, 3, 8, 32, 4, 107, 1},   {2, 3, 8, 32, 5, 105, 0},
                     {3, 9, 32, 32, 31, 109, 1},       {3, 9, 8, 32, 2, 102, 0},   {2, 4, 32, 20, 15, 119, 1},
                     {2, 4, 32, 20, 16, 0x7fc0dead, 1}};
  CUdeviceptr pairs = fixture.allocate(256);
  for (auto one : cases) {
    OK(fixture.launch("exchange", 1, one.block, 0, {&one.mode, &one.offset, &one.width, &pairs}));
    std::vector<uint32_t> out = fixture.download<uint32_t>(pairs, 64);
    if (!CHECK(out[2 * one.lane] == one.value && out[2 * one.lane + 1] == one.valid))
      std::fprintf(stderr, "mode %d offset %u width %u lane %u: %u %u\n", one.mode, one.offset, one.width, one.lane,
                   out[2 * one.lane], out[2 * one.lane + 1]);
  }
  for (CUdeviceptr pointer : {memory, sums, pairs})
    OK(fixture.driver.cuMemFreeAsync(pointer, fixture.stream));
}

static void refusesLaunches() {
  Fixture fixture;
  CUdeviceptr memory = 0;
  CHECK(fixture.launch("reverse", 1, 1025, 0, {&memory}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(fixture.launch("reverse", 0, 1, 0, {&memory}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(fixture.launch("sum", 1, 32, 64 << 10, {&memory, &memory}) == CUDA_ERROR_INVALID_VALUE);
  CUfunction function = nullptr;
  CHECK(fixture.driver.cuModuleGetFunction(&function, fixture.module, "none") == CUDA_ERROR_NOT_FOUND);
  OK(fixture.driver.cuFuncSetAttribute(fixture.kernel("places"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       64 << 10));
  memory = fixture.allocate(128);
  OK(fixture.launch("places", 1, 32, 64 << 10, {&memory}));
  OK(fixture.driver.cuMemFreeAsync(memory, fixture.stream));
  Result<CUmodule> module = fixture.driver.loadModule(".version 8.0\n.target sm_90\n");
  CHECK(!module.isOk() && contains(module.status().message(), "CUDA_ERROR_INVALID_IMAGE") &&
        contains(module.status().message(), "the emulated device takes relocatable ELF objects"));
}

static void assembles() {
  Fixture fixture;
  std::string image = test::readFile(EMULATED_KERNELS);
  Result<std::string> code = fixture.driver.assemble(image);
  CHECK(code.isOk() && code.value().find("emulated cubin: ") == 0);
  Result<CUmodule> module = fixture.driver.loadModule(code.value().data());
  CHECK(module.isOk());
  CUfunction function = nullptr;
  OK(fixture.driver.cuModuleGetFunction(&function, module.value(), "axpy"));
  OK(fixture.driver.cuModuleUnload(module.value()));
  Result<std::string> refused = fixture.driver.assemble(".version 8.0\n.target sm_90\n");
  CHECK(!refused.isOk() && contains(refused.status().message(), "cuLinkAddData failed") &&
        contains(refused.status().message(), "the emulated device takes relocatable ELF objects"));
}

//===-- Failures
//----------------------------------------------------------------------------------------------------===//

/// The kernel breaks the device with this error, and reports it. Afterwards every call fails until the emulator resets
/// the device.
static void breaks(const char *kernel, unsigned block, unsigned sharedBytes, void *argument, CUresult expected,
                   const char *why) {
  Fixture fixture;
  const Driver &driver = fixture.driver;
  static std::atomic<bool> ran;
  ran = false;
  CUevent event;
  OK(driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(fixture.launch(kernel, 1, block, sharedBytes, {argument}));
  driver.cuLaunchHostFunc(fixture.stream, [](void *) { ran = true; }, nullptr);
  driver.cuEventRecord(event, fixture.stream);
  CUresult result = driver.cuStreamSynchronize(fixture.stream);
  CHECK(result == expected && Driver::isSticky(result));
  Status status = driver.check(result, "cuStreamSynchronize");
  CHECK(status.code() == Code::LibraryFailed && contains(status.message(), "the device stays unusable"));
  CHECK(contains(CONTROL(emulatorLastFailure)(), why) && contains(CONTROL(emulatorLastFailure)(), kernel));
  CUdeviceptr pointer;
  CHECK(driver.cuMemAllocAsync(&pointer, 4, fixture.stream) == expected && driver.cuEventQuery(event) == expected);
  CHECK(!ran);
  CONTROL(emulatorReset)();
  OK(driver.cuEventDestroy(event));
  // The same stream's fibers serve again.
  CUdeviceptr sums = fixture.allocate(4), values = fixture.upload(std::vector<int>(64, 3));
  OK(fixture.launch("sum", 1, 64, 32, {&values, &sums}));
  CHECK(fixture.download<int>(sums, 1)[0] == 192);
  OK(driver.cuMemFreeAsync(sums, fixture.stream));
  OK(driver.cuMemFreeAsync(values, fixture.stream));
}

[[maybe_unused]] static void reportsBrokenKernels() {
  uint64_t nowhere = 16;
  uint32_t lane = 40, size = 128;
  breaks("stray", 1, 0, &nowhere, CUDA_ERROR_ILLEGAL_ADDRESS, "thread (0, 0, 0) of block (0, 0, 0) accesses 0x10");
  breaks("trap", 64, 0, &lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, "thread (40, 0, 0)");
  breaks("overflow", 1, 0, &lane, CUDA_ERROR_ILLEGAL_ADDRESS, "accesses");
  breaks("outside", 1, 128, &size, CUDA_ERROR_ILLEGAL_ADDRESS, "accesses");
  breaks("diverge", 32, 0, &lane, CUDA_ERROR_LAUNCH_FAILED, "deadlock");
  breaks("split", 32, 0, &lane, CUDA_ERROR_LAUNCH_FAILED, "at different barriers");
}

int main() {
  setenv("PYCOMPILER_EMULATED_MEMORY", "67108864", 1);
  setenv("PYCOMPILER_EMULATED_DEVICES", "2", 1);
  setenv("PYCOMPILER_EMULATED_CAPABILITY", "8.6", 1);
  RUN(describesTheDevice);
  RUN(saysWhatIsMissing);
  RUN(wantsAContext);
  RUN(copiesInOrder);
  RUN(keepsTheHostOut);
  RUN(spoilsMemory);
  RUN(copiesBetweenDevices);
  RUN(countsMemory);
  RUN(runsOutOfMemory);
  RUN(ordersStreamsByEvents);
  RUN(refusesCallsInHostFunctions);
  RUN(runsKernels);
  RUN(meetsAtBarriers);
  RUN(showsRaces);
  RUN(hasSharedMemoryOfItsOwn);
  RUN(shuffles);
  RUN(refusesLaunches);
  RUN(assembles);
  // The emulator leaves a signal's handler by switching stacks, which sanitizers, with their own handlers, take for a
  // handler that never ends.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  RUN(reportsBrokenKernels);
#endif
  return test::failures() != 0;
}

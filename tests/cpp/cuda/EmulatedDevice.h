// For tests of CudaDevice: a device over the emulated driver, values in its memory, and executions whose host parts
// launch the kernels of tests/emulator/fixtures.
#ifndef PYCOMPILER_TESTS_CPP_CUDA_EMULATEDDEVICE_H
#define PYCOMPILER_TESTS_CPP_CUDA_EMULATEDDEVICE_H

#include "Vectors.h"
#include "cuda/CudaDevice.h"
#include "driver/EmulatedDriver.h"
#include "runtime/CpuDevice.h"
#include "runtime/Executable.h"
#include "runtime/KernelImage.h"
#include "runtime/Stream.h"
#include "runtime/ThreadPool.h"

namespace test {

inline std::atomic<int> hostCalls{0};

/// Adds the second argument to the first by the kernel `axpy`; the result is a successor of the first.
inline int32_t addTo(const PcrtFrame *frame) {
  ++hostCalls;
  float one = 1;
  const void *x = frame->args[1];
  void *y = frame->results[0];
  uint64_t count = 64;
  void *params[] = {&one, &x, &y, &count};
  PcrtLaunchShape shape = {{2, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  return frame->table->launch(frame, 0, &shape, params);
}

inline int32_t traps(const PcrtFrame *frame) {
  uint32_t thread = 0;
  void *params[] = {&thread};
  PcrtLaunchShape shape = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  return frame->table->launch(frame, 1, &shape, params);
}

inline int32_t launchesTooMuch(const PcrtFrame *frame) {
  PcrtLaunchShape shape = {{1, 1, 1}, {2048, 1, 1}, {1, 1, 1}, 0};
  return frame->table->launch(frame, 1, &shape, nullptr);
}

inline pcrt::RefPtr<pcrt::KernelImage> kernelImage() {
  return pcrt::RefPtr<pcrt::KernelImage>::adopt(new pcrt::KernelImage(readFile(EMULATED_KERNELS), {"axpy", "trap"}));
}

/// A device, the host, and launches on both.
struct DevicesInUse : Vectors {
  DevicesInUse() : pool(2), host(0, pool, false), device(make(0)) {}
  ~DevicesInUse() {
    gateOpen = true;
    CHECK(device->stream().synchronize() && host.stream().synchronize());
    CHECK(device->stream().callsInFlight() == 0 && device->stream().bytesInFlight() == 0);
    pool.shutdown();
  }

  std::unique_ptr<pcrt::cuda::CudaDevice> make(int number) {
    auto made = pcrt::cuda::CudaDevice::create(emulatedDriver(), number, pool, /*inPlace=*/false);
    if (!made.isOk())
      std::fprintf(stderr, "%s\n", made.status().message().c_str());
    REQUIRE(made.isOk());
    return made.take();
  }
  /// Work that is enqueued from now on does not run until the gate is opened.
  void closeGate() {
    gateOpen = false;
    const auto &parts = device->parts();
    REQUIRE(parts.context().makeCurrent().isOk());
    CHECK(emulatedDriver().cuLaunchHostFunc(parts.stream(), waitAtGate, nullptr) == CUDA_SUCCESS);
  }

  pcrt::RefPtr<pcrt::Executable> executable(PcrtEntry entry, const char *name, bool mayBlock = false,
                                            uint64_t arenaBytes = 0) {
    auto made = pcrt::RefPtr<pcrt::Executable>::adopt(new pcrt::Executable(entry, arenaBytes, name, 100, mayBlock));
    made->setImage(image);
    return made;
  }
  pcrt::RefPtr<pcrt::Buffer> add(const pcrt::RefPtr<pcrt::Buffer> &to, const pcrt::RefPtr<pcrt::Buffer> &what) {
    return launch(*device, adds.get(), {to, what}, /*donates=*/true);
  }

  pcrt::ThreadPool pool;
  pcrt::CpuDevice host;
  std::unique_ptr<pcrt::cuda::CudaDevice> device;
  pcrt::RefPtr<pcrt::KernelImage> image = kernelImage();
  pcrt::RefPtr<pcrt::Executable> adds = executable(addTo, "add");
};

} // namespace test

#endif // PYCOMPILER_TESTS_CPP_CUDA_EMULATEDDEVICE_H

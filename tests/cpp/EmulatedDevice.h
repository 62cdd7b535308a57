// For tests of CudaDevice: one over the emulated driver, values in its memory, and executions whose host parts launch
// the kernels of tests/emulator/fixtures.
#ifndef PYCOMPILER_TESTS_CPP_EMULATEDDEVICE_H
#define PYCOMPILER_TESTS_CPP_EMULATEDDEVICE_H

#include "EmulatedDriver.h"
#include "cuda/CudaDevice.h"
#include "runtime/CpuDevice.h"

#include <vector>

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

inline int32_t fails(const PcrtFrame *) { return PCRT_LIBRARY_FAILED; }

/// Reads its argument, and refuses it if it is not 3.
inline int32_t wantsThree(const PcrtFrame *frame) {
  float value = 0;
  if (int32_t status = frame->table->read(frame, frame->args[0], &value, sizeof(value)))
    return status;
  return value == 3 ? PCRT_OK : PCRT_INVALID_ARGUMENT;
}

inline pcrt::RefPtr<pcrt::KernelImage> kernelImage() {
  return pcrt::RefPtr<pcrt::KernelImage>::adopt(new pcrt::KernelImage(readFile(EMULATED_KERNELS), {"axpy", "trap"}));
}

/// A device, the host, and what is launched on both: vectors of 64 floats that are all the same.
struct DevicesInUse {
  static constexpr size_t count = 64, bytes = count * sizeof(float);

  explicit DevicesInUse(bool inPlace = false, pcrt::RunAhead bound = {})
      : pool(2), host(0, pool, false), device(make(0, inPlace, bound)) {}
  ~DevicesInUse() {
    gateOpen = true;
    CHECK(device->stream().synchronize() && host.stream().synchronize());
    CHECK(device->stream().callsInFlight() == 0 && device->stream().bytesInFlight() == 0);
    pool.shutdown();
  }

  std::unique_ptr<pcrt::cuda::CudaDevice> make(int number, bool inPlace = false, pcrt::RunAhead bound = {}) {
    auto made = pcrt::cuda::CudaDevice::create(emulatedDriver(), number, pool, inPlace, bound);
    if (!made.isOk())
      std::fprintf(stderr, "%s\n", made.status().message().c_str());
    REQUIRE(made.isOk());
    return made.take();
  }
  /// Nothing that is enqueued from now on runs until the gate is opened.
  void closeGate() {
    gateOpen = false;
    const auto &parts = device->parts();
    REQUIRE(parts.context().makeCurrent().isOk());
    CHECK(emulatedDriver().cuLaunchHostFunc(parts.stream(), waitAtGate, nullptr) == CUDA_SUCCESS);
  }

  static pcrt::RefPtr<pcrt::Buffer> value(pcrt::Device &where, float number) {
    auto buffer = where.memory().allocate(bytes);
    REQUIRE(buffer.isOk());
    std::vector<float> values(count, number);
    CHECK(where.write(buffer.value()->data(), values.data(), bytes).isOk());
    return buffer.take();
  }
  /// The number that a buffer holds; waits for it.
  static float read(const pcrt::RefPtr<pcrt::Buffer> &buffer) {
    if (buffer->token())
      CHECK(buffer->token()->wait());
    if (pcrt::Error *error = buffer->error()) {
      std::fprintf(stderr, "%s\n", error->text().c_str());
      CHECK(false);
      return -1;
    }
    std::vector<float> values(count);
    CHECK(buffer->device()->readBuffer(*buffer, values.data()).isOk());
    CHECK(values.front() == values.back());
    return values.front();
  }
  static std::string failureOf(const pcrt::RefPtr<pcrt::Buffer> &buffer) {
    REQUIRE(buffer->token() && buffer->token()->wait());
    return buffer->error() ? buffer->error()->text() : "";
  }

  pcrt::RefPtr<pcrt::Executable> executable(PcrtEntry entry, const char *name, bool mayBlock = false,
                                            uint64_t arenaBytes = 0) {
    auto made = pcrt::RefPtr<pcrt::Executable>::adopt(new pcrt::Executable(entry, arenaBytes, name, 100, mayBlock));
    made->setImage(image);
    return made;
  }
  /// With the result in the memory of the first argument, which is given up, or in fresh memory.
  static pcrt::RefPtr<pcrt::Buffer> launch(pcrt::Device &where, pcrt::Executable *executable,
                                           const std::vector<pcrt::RefPtr<pcrt::Buffer>> &args, bool donates = false) {
    std::vector<pcrt::Buffer *> raw;
    for (const auto &arg : args)
      raw.push_back(arg.get());
    auto result = donates ? pcrt::Buffer::successor(*raw[0]) : where.memory().allocate(bytes).take();
    pcrt::Buffer *results[] = {result.get()};
    pcrt::Launch launch{executable, raw.data(), static_cast<unsigned>(raw.size()), results, 1, "model.py:3"};
    if (where.stream().mannerOf(launch) == pcrt::Stream::Manner::Enqueue)
      where.stream().enqueue(launch);
    else
      where.stream().runInPlace(launch);
    return result;
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

#endif // PYCOMPILER_TESTS_CPP_EMULATEDDEVICE_H

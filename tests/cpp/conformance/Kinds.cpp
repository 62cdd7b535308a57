// The kinds of devices: the host's cores, the emulated GPU, the machine's GPU. The two GPUs differ in their driver and
// in the language of their kernels.
#include "Subject.h"
#include "cuda/EmulatedDevice.h"
#include "runtime/Executable.h"
#include "runtime/KernelImage.h"
#include "runtime/Stream.h"

#include <cstring>

using namespace pcrt;

namespace test {

void Subject::finish() {
  openGate();
  CHECK(device().stream().synchronize() && host.stream().synchronize());
  CHECK(device().stream().callsInFlight() == 0 && device().stream().bytesInFlight() == 0);
  pool.shutdown();
}

namespace {

void waitForTheGate(const std::atomic<bool> &isOpen) {
  while (!isOpen)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

//===--- The host -------------------------------------------------------------------------------------------------===//

class CpuSubject final : public Subject {
public:
  CpuSubject(bool inPlace, RunAhead bound) : tested(0, pool, inPlace, bound) {
    adds = executable(addOnHost, "add", false, 0);
    waits = RefPtr<Executable>::adopt(new Executable(copyBehindTheGate, 0, "waits", 1e9));
  }
  ~CpuSubject() override { finish(); }

  Device &device() override { return tested; }
  RefPtr<Buffer> held(float number) override {
    gateIsOpen = false;
    return launch(tested, waits.get(), {value(number)});
  }
  /// Too long to run in place, like every run of a GPU.
  RefPtr<Executable> executable(PcrtEntry entry, const char *name, bool mayBlock, uint64_t arenaBytes) override {
    return RefPtr<Executable>::adopt(new Executable(entry, arenaBytes, name, 1e9, mayBlock));
  }

private:
  static int32_t addOnHost(const PcrtFrame *frame) {
    auto *sums = static_cast<float *>(frame->results[0]);
    for (size_t i = 0; i < count; ++i)
      sums[i] = static_cast<const float *>(frame->args[0])[i] + static_cast<const float *>(frame->args[1])[i];
    return PCRT_OK;
  }
  static int32_t copyBehindTheGate(const PcrtFrame *frame) {
    waitForTheGate(gateIsOpen);
    std::memcpy(frame->results[0], frame->args[0], bytes);
    return PCRT_OK;
  }

  CpuDevice tested;
  RefPtr<Executable> waits;
};

//===--- GPUs -----------------------------------------------------------------------------------------------------===//

class CudaSubject final : public Subject {
public:
  CudaSubject(const cuda::Driver &driver, RefPtr<KernelImage> image, bool inPlace, RunAhead bound)
      : driver(driver), image(std::move(image)) {
    auto made = cuda::CudaDevice::create(driver, 0, pool, inPlace, bound);
    if (!made.isOk())
      std::fprintf(stderr, "%s\n", made.status().message().c_str());
    REQUIRE(made.isOk());
    tested = made.take();
    adds = executable(addTo, "add", false, 0);
    // The driver loads the kernels here: it waits for the device to do so, and would wait for `held` forever.
    CHECK(read(add(value(0), value(0))) == 0);
  }
  ~CudaSubject() override { finish(); }

  Device &device() override { return *tested; }
  RefPtr<Buffer> held(float number) override {
    RefPtr<Buffer> first = value(number), none = value(0);
    gateIsOpen = false;
    const auto &parts = tested->parts();
    REQUIRE(parts.context().makeCurrent().isOk());
    auto wait = [](void *) { waitForTheGate(gateIsOpen); };
    CHECK(driver.cuLaunchHostFunc(parts.stream(), wait, nullptr) == CUDA_SUCCESS);
    return add(first, none);
  }
  RefPtr<Executable> executable(PcrtEntry entry, const char *name, bool mayBlock, uint64_t arenaBytes) override {
    auto made = RefPtr<Executable>::adopt(new Executable(entry, arenaBytes, name, 100, mayBlock));
    made->setImage(image);
    return made;
  }

private:
  const cuda::Driver &driver;
  const RefPtr<KernelImage> image;
  std::unique_ptr<cuda::CudaDevice> tested;
};

template <typename Made, typename... Arguments> std::unique_ptr<Subject> create(Arguments &&...arguments) {
  return std::make_unique<Made>(std::forward<Arguments>(arguments)...);
}

std::unique_ptr<Subject> onHost(bool inPlace, RunAhead bound) { return create<CpuSubject>(inPlace, bound); }

std::unique_ptr<Subject> onEmulatedGpu(bool inPlace, RunAhead bound) {
  return create<CudaSubject>(emulatedDriver(), kernelImage(), inPlace, bound);
}

std::unique_ptr<Subject> onGpu(bool inPlace, RunAhead bound) {
  RefPtr<KernelImage> image = RefPtr<KernelImage>::adopt(new KernelImage(readFile(PTX_KERNELS), {"axpy", "trap"}));
  return create<CudaSubject>(*cuda::Driver::get().value(), std::move(image), inPlace, bound);
}

std::string missingGpu() {
  Result<const cuda::Driver *> driver = cuda::Driver::get();
  return driver.isOk() ? "" : driver.status().message();
}

constexpr Kind kinds[] = {
    {"cpu", onHost, [] { return std::string(); }},
    {"emulated", onEmulatedGpu, [] { return std::string(); }},
    {"gpu", onGpu, missingGpu},
};

} // namespace

const Kind *Kind::named(const char *name) {
  for (const Kind &kind : kinds)
    if (std::strcmp(kind.name, name) == 0)
      return &kind;
  return nullptr;
}

} // namespace test

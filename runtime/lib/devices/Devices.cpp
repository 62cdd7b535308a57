// The devices of this process, and their handling of fork().
#include "runtime/Devices.h"

#include "cuda/CudaDevice.h"
#include "runtime/Callbacks.h"
#include "runtime/CpuDevice.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <utility>

using namespace pcrt;

/// PYCOMPILER_SYNC=1: everything runs in the calling thread.
static bool syncFromEnvironment() {
  const char *text = std::getenv("PYCOMPILER_SYNC");
  return text && *text && std::strcmp(text, "0") != 0;
}

/// PYCOMPILER_NUM_CPU_DEVICES, else one. Anything but a number from 1 to 1024 counts as one; the binding reports it.
static int cpuCountFromEnvironment() {
  const char *text = std::getenv("PYCOMPILER_NUM_CPU_DEVICES");
  char *end = nullptr;
  long count = text ? std::strtol(text, &end, 10) : 1;
  return text && *text && !*end && count >= 1 && count <= 1024 ? static_cast<int>(count) : 1;
}

/// One pool for all devices, so that they do not compete for the cores.
static ThreadPool &cpuThreads() {
  static auto *const pool = new ThreadPool(ThreadPool::defaultSize());
  return *pool;
}

//===-- Around fork()
//-----------------------------------------------------------------------------------------------===//

static bool anyInFlight() {
  for (Device *device : Devices::all())
    if (device->stream().callsInFlight() > 0)
      return true;
  return false;
}

/// A child has none of the workers, so nothing may be in flight. Then no lock is held either.
static void beforeFork() {
  while (true) {
    // A callback that forks is itself in flight.
    bool waits = !callbacks::isRunning();
    if (waits) {
      Devices::synchronize();
      callbacks::drain();
    }
    cpuThreads().beforeFork();
    callbacks::beforeFork();
    if (!waits || (!anyInFlight() && callbacks::pending() == 0))
      break;
    callbacks::afterForkInParent();
    cpuThreads().afterForkInParent();
  }
  for (Device *device : Devices::all())
    device->memory().beforeFork();
}

static void afterForkInParent() {
  for (Device *device : Devices::all())
    device->memory().afterFork();
  callbacks::afterForkInParent();
  cpuThreads().afterForkInParent();
}

static void afterForkInChild() {
  for (Device *device : Devices::all())
    device->memory().afterFork();
  cuda::Context::afterForkInChild();
  EffectfulLaunch::afterForkInChild();
  callbacks::afterForkInChild();
  cpuThreads().afterForkInChild();
}

//===-- The devices
//-------------------------------------------------------------------------------------------------===//

namespace {
struct Found {
  std::vector<Device *> all;
  Device *standard;
  const Status *gpu;
};
} // namespace

/// The driver, unless the environment disables the GPUs.
static Result<const cuda::Driver *> usedDriver() {
  const char *platform = std::getenv("PYCOMPILER_PLATFORM");
  if (platform && std::strcmp(platform, "cpu") == 0)
    return Status(Code::InvalidArgument, "PYCOMPILER_PLATFORM=cpu excludes the GPUs");
  return cuda::Driver::get();
}

/// Adds the driver's GPUs.
static Status addGpus(std::vector<Device *> &devices, bool inPlace) {
  Result<const cuda::Driver *> driver = usedDriver();
  if (!driver.isOk())
    return Status(driver.status().code(), driver.status().message());
  for (int number = 0; number < driver.value()->deviceCount(); ++number) {
    auto made = cuda::CudaDevice::create(*driver.value(), number, cpuThreads(), inPlace);
    if (!made.isOk())
      return Status(made.status().code(), "cuda:" + std::to_string(number) + ": " + made.status().message());
    devices.push_back(made.take().release());
  }
  return Status::ok();
}

/// For a host memory pool when the system has no more memory: the other pools may return their cached blocks.
static void trimAll() {
  for (Device *device : Devices::all())
    if (device->hasHostMemory())
      device->memory().trim();
}

/// The current devices. A thread that iterates older ones keeps a valid list: no list is ever destroyed.
static std::atomic<const Found *> &devicesOfProcess() {
  static std::atomic<const Found *> found = [] {
    auto *made = new Found();
    bool inPlace = syncFromEnvironment();
    for (int number = 0, count = cpuCountFromEnvironment(); number < count; ++number)
      made->all.push_back(new CpuDevice(number, cpuThreads(), inPlace));
    size_t firstGpu = made->all.size();
    made->gpu = new Status(addGpus(made->all, inPlace));
    made->standard = made->all[firstGpu < made->all.size() ? firstGpu : 0];
    HostBufferPool::whenShort(trimAll);
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    return static_cast<const Found *>(made);
  }();
  return found;
}

const std::vector<Device *> &Devices::all() { return devicesOfProcess().load()->all; }
Device &Devices::standard() { return *devicesOfProcess().load()->standard; }
const Status &Devices::gpuStatus() { return *devicesOfProcess().load()->gpu; }

Result<std::vector<std::string>> Devices::visibleGpus() {
  std::vector<std::string> found;
  Result<const cuda::Driver *> driver = usedDriver();
  for (int number = 0; driver.isOk() && number < driver.value()->deviceCount(); ++number) {
    Result<std::string> uuid = driver.value()->uuid(number);
    if (!uuid.isOk())
      return Status(uuid.status().code(), uuid.status().message());
    found.push_back(uuid.take());
  }
  return found;
}

void Devices::keepGpus(const std::vector<int> &numbers) {
  std::atomic<const Found *> &found = devicesOfProcess();
  auto *kept = new Found(*found.load());
  std::vector<Device *> before = std::exchange(kept->all, {});
  kept->standard = before.front();
  for (Device *device : before) {
    const bool isGpu = device->platform() != before.front()->platform();
    if (isGpu && std::find(numbers.begin(), numbers.end(), device->localId()) == numbers.end()) {
      static_cast<cuda::CudaDevice *>(device)->giveUp();
      continue;
    }
    kept->all.push_back(device);
    if (isGpu && kept->standard == before.front())
      kept->standard = device;
  }
  if (kept->gpu->isOk() && kept->standard == before.front())
    kept->gpu = new Status(Code::InvalidArgument, "this process has taken none of the machine's GPUs");
  found.store(kept);
}

void Devices::addCpus(int count) {
  static std::mutex adding;
  std::lock_guard<std::mutex> lock(adding);
  std::atomic<const Found *> &found = devicesOfProcess();
  auto *grown = new Found(*found.load());
  int number = 0;
  for (const Device *device : grown->all)
    number += device->platform() == cpu().platform();
  for (int last = number + count; number < last; ++number) {
    auto *device = new CpuDevice(number, cpuThreads(), syncFromEnvironment());
    device->memory().setLimit(cpu().memory().limit());
    grown->all.push_back(device);
  }
  found.store(grown);
}

Device &Devices::cpu() {
  static Device &first = *all().front();
  return first;
}

bool Devices::synchronize(InterruptHook hook) {
  for (Device *device : all())
    if (!device->stream().synchronize(hook))
      return false;
  return true;
}

void Devices::shutdown() {
  // Callbacks may launch, and their launches may call back.
  do {
    synchronize();
    callbacks::drain();
  } while (anyInFlight());
  cpuThreads().shutdown();
  callbacks::shutdown();
}

// Several devices: the ownership of memory, copies between them that wait for their sources, one executable on all.
#include "Check.h"
#include "runtime/BufferPool.h"
#include "runtime/CpuDevice.h"
#include "runtime/Executable.h"
#include "runtime/KernelImage.h"
#include "runtime/Stream.h"
#include "runtime/ThreadPool.h"

#include <thread>
#include <vector>

using namespace pcrt;

static std::atomic<bool> gateOpen;
static std::atomic<int> lastDevice{-1};

/// Runs until the test opens the gate.
static int32_t gated(const PcrtFrame *frame) {
  while (!gateOpen)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  *static_cast<int64_t *>(frame->results[0]) = *static_cast<const int64_t *>(frame->args[0]) + 1;
  return PCRT_OK;
}

static int32_t tellsDevice(const PcrtFrame *frame) {
  lastDevice = RunContext::of(frame).device.id();
  CHECK(frame->arena);
  *static_cast<int64_t *>(frame->results[0]) = *static_cast<const int64_t *>(frame->args[0]);
  return PCRT_OK;
}

static int32_t fails(const PcrtFrame *) { return PCRT_LIBRARY_FAILED; }

namespace {
/// Two devices over one pool of threads.
struct Fixture {
  explicit Fixture(bool inPlace = false) : pool(2), first(0, pool, inPlace), second(1, pool, inPlace) {}
  ~Fixture() {
    CHECK(first.stream().synchronize() && second.stream().synchronize());
    pool.shutdown();
  }

  static RefPtr<Buffer> value(Device &device, int64_t number) {
    RefPtr<Buffer> buffer = device.memory().allocate(sizeof(int64_t)).take();
    *static_cast<int64_t *>(buffer->data()) = number;
    return buffer;
  }

  /// Runs, or enqueues, on a device; returns the result.
  static RefPtr<Buffer> launch(Device &device, Executable *executable, Buffer &argument, bool here = false) {
    RefPtr<Buffer> result = device.memory().allocate(argument.size()).take();
    Buffer *args[] = {&argument}, *results[] = {result.get()};
    Launch request = {executable, args, 1, results, 1, nullptr};
    if (here)
      device.stream().runInPlace(request);
    else
      device.stream().enqueue(request);
    return result;
  }

  ThreadPool pool;
  CpuDevice first, second;
};
} // namespace

static int64_t read(Buffer &buffer) {
  if (buffer.token())
    CHECK(buffer.token()->wait());
  return *static_cast<int64_t *>(buffer.data());
}

static void buffersKnowTheirDevice() {
  Fixture fixture;
  RefPtr<Buffer> a = Fixture::value(fixture.first, 1), b = Fixture::value(fixture.second, 2);
  CHECK(a->device() == &fixture.first && b->device() == &fixture.second);
  CHECK(Buffer::successor(*b)->device() == &fixture.second);
  uint64_t before = fixture.first.memory().statistics().peakBytes;
  RefPtr<Buffer> large = fixture.second.memory().allocate(1 << 22).take();
  CHECK(fixture.first.memory().statistics().peakBytes == before);
  CHECK(fixture.second.memory().statistics().liveBytes >= 1 << 22);
}

static void aCopyIsInTheOtherMemory() {
  Fixture fixture;
  RefPtr<Buffer> source = Fixture::value(fixture.first, 42);
  for (bool here : {true, false}) {
    RefPtr<Buffer> copy = Fixture::launch(fixture.second, nullptr, *source, here);
    CHECK(copy->device() == &fixture.second && copy->data() != source->data());
    CHECK(read(*copy) == 42);
  }
}

static void aCopyWaitsForWhatItCopies() {
  Fixture fixture;
  gateOpen = false;
  auto slow = RefPtr<Executable>::adopt(new Executable(gated, 0, "gated", 1e9));
  RefPtr<Buffer> source = Fixture::value(fixture.first, 1);
  RefPtr<Buffer> pending = Fixture::launch(fixture.first, slow.get(), *source);
  RefPtr<Buffer> copy = Fixture::launch(fixture.second, nullptr, *pending);
  CHECK(!copy->isReady() && fixture.second.stream().callsInFlight() == 1);
  // The source may be released meanwhile: the copy holds it.
  pending = nullptr;
  gateOpen = true;
  CHECK(read(*copy) == 2);
}

static void aCopyOfWhatFailedFails() {
  Fixture fixture;
  auto bad = RefPtr<Executable>::adopt(new Executable(fails, 0, "fails", 100));
  RefPtr<Buffer> source = Fixture::value(fixture.first, 1);
  RefPtr<Buffer> poisoned = Fixture::launch(fixture.first, bad.get(), *source, true);
  RefPtr<Buffer> copy = Fixture::launch(fixture.second, nullptr, *poisoned);
  CHECK(copy->token()->wait());
  CHECK(copy->error() && copy->error() == poisoned->error());
}

static void oneExecutableRunsOnEveryDevice() {
  Fixture fixture;
  auto tells = RefPtr<Executable>::adopt(new Executable(tellsDevice, 1 << 20, "tells", 100));
  for (Device *device : {static_cast<Device *>(&fixture.first), static_cast<Device *>(&fixture.second)}) {
    RefPtr<Buffer> source = Fixture::value(*device, device->id());
    uint64_t before = device->memory().statistics().peakBytes;
    CHECK(read(*Fixture::launch(*device, tells.get(), *source, true)) == device->id());
    CHECK(lastDevice == device->id());
    // Its temporaries were in the memory of the device.
    CHECK(device->memory().statistics().peakBytes >= before + (1 << 20));
  }
}

static int32_t launchesAKernel(const PcrtFrame *frame) {
  PcrtLaunchShape shape = {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};
  return frame->table->launch(frame, 0, &shape, nullptr);
}

static int32_t readsItsArgument(const PcrtFrame *frame) {
  int64_t value = 0;
  int32_t status = frame->table->read(frame, frame->args[0], &value, sizeof(value));
  *static_cast<int64_t *>(frame->results[0]) = value;
  return status;
}

static void aCpuHasNoKernels() {
  Fixture fixture;
  RefPtr<Buffer> source = Fixture::value(fixture.first, 5);
  auto launches = RefPtr<Executable>::adopt(new Executable(launchesAKernel, 0, "launches", 100));
  auto failure = [&] {
    RefPtr<Buffer> result = Fixture::launch(fixture.first, launches.get(), *source, true);
    return result->error() ? result->error()->message : "";
  };
  CHECK(failure() == "compiled code launches kernel 0, and has 0 of them");
  launches->setImage(RefPtr<KernelImage>::adopt(new KernelImage("PTX", {"add", "sum"})));
  CHECK(failure() == "cpu:0 can't launch the kernels of a program that was compiled for a GPU (add, ...); compile it "
                     "for the device that it runs on");
  CHECK(fixture.first.assemble(".version 8.0").status().message() ==
        "cpu:0 has no assembler: its programs are machine code");
  auto reads = RefPtr<Executable>::adopt(new Executable(readsItsArgument, 0, "reads", 100));
  CHECK(read(*Fixture::launch(fixture.first, reads.get(), *source, true)) == 5);
}

/// Copies to and fro, from several threads.
static void manyCopies() {
  Fixture fixture;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      RefPtr<Buffer> value = Fixture::value(fixture.first, number);
      for (int i = 0; i < 200; ++i) {
        Device &target = i % 2 ? static_cast<Device &>(fixture.first) : fixture.second;
        value = Fixture::launch(target, nullptr, *value);
      }
      CHECK(read(*value) == number);
    });
  for (std::thread &thread : threads)
    thread.join();
}

int main() {
  RUN(buffersKnowTheirDevice);
  RUN(aCopyIsInTheOtherMemory);
  RUN(aCopyWaitsForWhatItCopies);
  RUN(aCopyOfWhatFailedFails);
  RUN(oneExecutableRunsOnEveryDevice);
  RUN(aCpuHasNoKernels);
  RUN(manyCopies);
  return test::failures() != 0;
}

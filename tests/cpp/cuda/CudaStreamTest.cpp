// Executions on a CUDA device, over the emulated driver: run-ahead of the device, the loading of kernels and release of
// memory, and the errors of a refused launch and a trap. The guarantees of every device are tested in conformance/.
#include "cuda/EmulatedDevice.h"
#include "runtime/BufferPool.h"
#include "runtime/Executable.h"
#include "runtime/KernelImage.h"
#include "runtime/Stream.h"

using namespace pcrt;
using namespace test;
using Fixture = DevicesInUse;

static bool contains(const std::string &text, const char *part) {
  bool found = text.find(part) != std::string::npos;
  if (!found)
    std::fprintf(stderr, "text: %s\n", text.c_str());
  return found;
}

/// Loads the kernels, so that later launches are short. Nothing is in flight afterwards.
static void warm(Fixture &f) {
  CHECK(Fixture::read(f.add(f.value(*f.device, 1), f.value(*f.device, 2))) == 3);
  CHECK(f.device->stream().synchronize());
}

static void hostRunsAheadOfTheDevice() {
  Fixture f;
  warm(f);
  f.closeGate();
  auto sum = f.value(*f.device, 0), one = f.value(*f.device, 1);
  int before = hostCalls;
  for (int i = 0; i < 100; ++i)
    sum = f.add(sum, one);
  // This thread launched all of them, although none of their inputs is ready.
  CHECK(hostCalls == before + 100 && !sum->isReady() && f.device->stream().callsInFlight() == 100);
  gateOpen = true;
  CHECK(Fixture::read(sum) == 100);
}

static void kernelsAreLoadedByThePool() {
  Fixture f;
  CHECK(!f.image->find(*f.device));
  auto two = f.value(*f.device, 2), sum = f.value(*f.device, 0);
  // Later launches keep their order.
  for (int i = 0; i < 10; ++i)
    sum = f.add(sum, two);
  CHECK(Fixture::read(sum) == 20 && f.image->find(*f.device));
}

static void memoryIsGivenUpBeforeTheDeviceComesToIt() {
  Fixture f;
  warm(f);
  uint64_t before = f.device->memory().statistics().liveBuffers;
  f.closeGate();
  auto copy = f.launch(*f.device, nullptr, {f.value(*f.device, 7)});
  CHECK(!copy->isReady() && f.device->memory().statistics().liveBuffers == before + 1);
  // This one may reuse the block that is being copied.
  auto other = f.value(*f.device, 9);
  gateOpen = true;
  CHECK(Fixture::read(copy) == 7 && Fixture::read(other) == 9);
}

static void waitsForTheHost() {
  Fixture f;
  static std::atomic<bool> go;
  go = false;
  auto slow = RefPtr<Executable>::adopt(new Executable(
      [](const PcrtFrame *frame) -> int32_t {
        while (!go)
          std::this_thread::sleep_for(std::chrono::microseconds(100));
        for (size_t i = 0; i < Fixture::count; ++i)
          static_cast<float *>(frame->results[0])[i] = 5;
        return PCRT_OK;
      },
      0, "slow", 1e9));
  auto pending = Fixture::launch(f.host, slow.get(), {f.value(f.host, 0)});
  auto there = Fixture::launch(*f.device, nullptr, {pending});
  auto sum = f.add(there, f.value(*f.device, 1));
  auto back = Fixture::launch(f.host, nullptr, {sum});
  CHECK(!there->isReady() && !sum->isReady() && !back->isReady());
  go = true;
  CHECK(Fixture::read(back) == 6 && back->device() == &f.host);
}

static void refusedLaunchesNameTheKernel() {
  Fixture f;
  auto much = Fixture::launch(*f.device, f.executable(launchesTooMuch, "much").get(), {f.value(*f.device, 1)});
  CHECK(contains(Fixture::failureOf(much), "much: kernel 'trap', a grid of 1 x 1 x 1 blocks of 2048 x 1 x 1 threads"));
  CHECK(contains(Fixture::failureOf(much), "(launched at model.py:3)"));
  auto none = f.executable(addTo, "none");
  none->setImage(RefPtr<KernelImage>::adopt(new KernelImage("no image", {"add"})));
  auto unloaded = Fixture::launch(*f.device, none.get(), {f.value(*f.device, 1), f.value(*f.device, 1)}, true);
  CHECK(contains(Fixture::failureOf(unloaded), "cuda:0 can't load the program's kernels: cuModuleLoadDataEx failed"));
}

[[maybe_unused]] static void aTrapFailsEverythingAfterIt() {
  Fixture f;
  warm(f);
  auto before = f.add(f.value(*f.device, 1), f.value(*f.device, 1));
  CHECK(before->token()->wait() && !before->error());
  auto trapped = Fixture::launch(*f.device, f.executable(traps, "bad").get(), {f.value(*f.device, 1)});
  std::string first = Fixture::failureOf(trapped);
  CHECK(contains(first, "bad: ") && contains(first, "a kernel failed before this call or in it") &&
        contains(first, "(launched at model.py:3)"));
  auto later = f.add(f.value(f.host, 1), f.value(f.host, 1));
  CHECK(Fixture::failureOf(later) == first);
  // The host continues.
  CHECK(Fixture::read(Fixture::launch(f.host, nullptr, {f.value(f.host, 3)})) == 3);
  CONTROL(emulatorReset)();
}

int main() {
  RUN(hostRunsAheadOfTheDevice);
  RUN(kernelsAreLoadedByThePool);
  RUN(memoryIsGivenUpBeforeTheDeviceComesToIt);
  RUN(waitsForTheHost);
  RUN(refusedLaunchesNameTheKernel);
  // As in CudaDriverTest: sanitizers mistake a signal that the emulator leaves by switching stacks for an endless one.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  RUN(aTrapFailsEverythingAfterIt);
#endif
  return test::failures() != 0;
}

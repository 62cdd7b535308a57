// A GPU as a device, over the emulated driver: its memory, copies between GPUs, out of memory, the child of a fork. The
// guarantees of every device are tested in conformance/.
#include "cuda/EmulatedDevice.h"
#include "runtime/BufferPool.h"
#include "runtime/Stream.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace pcrt;
using namespace test;
using Fixture = DevicesInUse;

static void saysWhatItIs() {
  Fixture f;
  CHECK(f.device->id() == 0 && f.device->name() == "cuda:0" && f.device->platform() == std::string("gpu"));
  CHECK(f.device->kind() == "Emulated device 0" && f.device->computeCapability() == "9.0");
  CHECK(!f.device->hasHostMemory() && f.host.hasHostMemory() && f.host.computeCapability().empty());
}

static void buffersAreTheDevices() {
  Fixture f;
  auto buffer = f.value(*f.device, 4);
  CHECK(buffer->device() == f.device.get() && !buffer->isHostReadable() && buffer->isOurs());
  CHECK(reinterpret_cast<uintptr_t>(buffer->data()) % 256 == 0);
  MemoryStatistics now = f.device->memory().statistics();
  CHECK(now.liveBuffers == 1 && now.liveBytes == Fixture::bytes);
  // A part of it is read in place.
  auto part = Buffer::view(*buffer, 4, 8);
  float values[2] = {};
  CHECK(!part->isHostReadable() && f.device->readBuffer(*part, values).isOk() && values[1] == 4);
  part = nullptr;
  buffer = nullptr;
  CHECK(f.device->memory().statistics().liveBuffers == 0);
  CHECK(f.device->memory().limit() == f.device->memory().defaultLimit());
}

static void aReadyBufferIsReadBesideTheWork() {
  Fixture f;
  auto sum = f.add(f.value(*f.device, 1), f.value(*f.device, 2));
  CHECK(sum->token()->wait());
  f.closeGate();
  auto later = f.add(sum, f.value(*f.device, 1));
  CHECK(!later->isReady());
  auto one = f.value(f.host, 0);
  CHECK(f.device->readBuffer(*sum, one->data()).isOk());
  CHECK(Fixture::read(one) == 3);
}

static void copiesBetweenGpus() {
  Fixture f;
  auto second = f.make(1);
  f.closeGate();
  auto sum = f.add(f.value(*f.device, 1), f.value(*f.device, 2));
  auto there = Fixture::launch(*second, nullptr, {sum});
  // Uploaded, and still in flight when it is copied.
  auto fresh = Fixture::launch(*second, nullptr, {f.value(*f.device, 5)});
  sum = nullptr;
  CHECK(!there->isReady() && there->device() == second.get());
  gateOpen = true;
  CHECK(Fixture::read(there) == 3 && Fixture::read(fresh) == 5);
  CHECK(second->stream().synchronize());
}

static void outOfMemoryNamesBuffers() {
  Fixture f;
  f.device->memory().setLimit(64 << 20);
  RefPtr<Buffer> large = f.device->memory().allocate(48 << 20).take();
  f.device->memory().note(*large, "f32[12582912] made at model.py:7");
  Result<RefPtr<Buffer>> more = f.device->memory().allocate(32 << 20);
  const char expected[] = "out of memory: cannot allocate 32.0 MiB (33554432 bytes); cuda:0 has a limit of 64.0 MiB, "
                          "and 48.0 MiB are live in 1 buffers, the largest of them: 48.0 MiB f32[12582912] made at "
                          "model.py:7";
  CHECK(!more.isOk() && more.status().code() == Code::OutOfMemory && more.status().message() == expected);
  auto hungry = f.executable(addTo, "hungry", false, 32 << 20);
  auto result = Fixture::launch(*f.device, hungry.get(), {f.value(*f.device, 1), f.value(*f.device, 1)}, true);
  CHECK(Fixture::failureOf(result).find("hungry: temporaries: out of memory: cannot allocate 32.0 MiB") == 0);
  CHECK(result->error()->code == Code::OutOfMemory);
}

/// Launches and copies in both directions, from several threads.
static void manyThreads() {
  Fixture f;
  auto second = f.make(1);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      auto value = f.value(*f.device, static_cast<float>(number));
      for (int i = 0; i < 50; ++i) {
        value = f.add(value, f.value(*f.device, 1));
        Device *other = i % 2 ? static_cast<Device *>(&f.host) : second.get();
        value = Fixture::launch(*f.device, nullptr, {Fixture::launch(*other, nullptr, {value})});
      }
      CHECK(Fixture::read(value) == static_cast<float>(number + 50));
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(second->stream().synchronize());
}

static void aChildIsRefused() {
  Fixture f;
  auto value = f.value(*f.device, 1);
  CHECK(Fixture::read(value) == 1);
  pid_t child = fork();
  if (child == 0) {
    cuda::Context::afterForkInChild();
    float got = 0;
    Status status = f.device->read(value->data(), &got, sizeof(got));
    Result<RefPtr<Buffer>> more = f.device->memory().allocate(4);
    bool refused = status.message().find("this process was forked from one that uses CUDA") == 0 && !more.isOk();
    value = nullptr;
    _exit(refused ? 0 : 1);
  }
  int status = 1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main() {
  setenv("PYCOMPILER_EMULATED_DEVICES", "2", 1);
  RUN(saysWhatItIs);
  RUN(buffersAreTheDevices);
  RUN(aReadyBufferIsReadBesideTheWork);
  RUN(copiesBetweenGpus);
  RUN(outOfMemoryNamesBuffers);
  RUN(manyThreads);
  RUN(aChildIsRefused);
  return test::failures() != 0;
}

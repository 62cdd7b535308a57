// The guarantees of every kind of device: when launches return and begin, the ownership of memory, the waits of copies,
// the propagation of failures, and the bound on run-ahead. `ConformanceTest cpu`, `emulated` or `gpu`; exits with 77 if
// the device does not exist.
#include "Subject.h"
#include "runtime/BufferPool.h"
#include "runtime/Collective.h"
#include "runtime/Executable.h"
#include "runtime/Stream.h"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace pcrt;
using namespace test;

namespace {

const Kind *kind;
std::unique_ptr<Subject> make(bool inPlace = false, RunAhead bound = {}) { return kind->make(inPlace, bound); }

int32_t fails(const PcrtFrame *) { return PCRT_LIBRARY_FAILED; }
constexpr const char failure[] = "broken: a library routine failed (launched at model.py:3)";

/// Reads its argument, and refuses it if it is not 3.
int32_t wantsThree(const PcrtFrame *frame) {
  float value = 0;
  if (int32_t status = frame->table->read(frame, frame->args[0], &value, sizeof(value)))
    return status;
  return value == 3 ? PCRT_OK : PCRT_INVALID_ARGUMENT;
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

void bytesComeBack() {
  auto s = make();
  std::vector<float> values(Subject::count);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  RefPtr<Buffer> buffer = s->value(0);
  CHECK(s->device().write(buffer->data(), values.data(), Subject::bytes).isOk());
  std::vector<float> got(Subject::count), part(2);
  CHECK(s->device().read(buffer->data(), got.data(), Subject::bytes).isOk() && got == values);
  RefPtr<Buffer> view = Buffer::view(*buffer, 4, 8);
  CHECK(s->device().readBuffer(*view, part.data()).isOk() && part[0] == 1 && part[1] == 2);
  CHECK(buffer->device() == &s->device() && buffer->isHostReadable() == s->device().hasHostMemory());
}

void memoryIsCounted() {
  auto s = make();
  BufferPool &memory = s->device().memory();
  MemoryStatistics before = memory.statistics();
  RefPtr<Buffer> large = memory.allocate(8 << 20).take();
  CHECK(reinterpret_cast<uintptr_t>(large->data()) % PCRT_ALIGNMENT == 0);
  MemoryStatistics now = memory.statistics();
  CHECK(now.liveBytes == before.liveBytes + (8 << 20) && now.liveBuffers == before.liveBuffers + 1);
  large = nullptr;
  now = memory.statistics();
  CHECK(now.liveBytes == before.liveBytes && now.peakBytes >= before.liveBytes + (8 << 20));
  memory.resetPeak();
  memory.trim();
  now = memory.statistics();
  CHECK(now.peakBytes < before.liveBytes + (8 << 20) && now.cachedBytes == 0);
}

void outOfMemoryNamesBuffers() {
  auto s = make();
  BufferPool &memory = s->device().memory();
  memory.setLimit(memory.statistics().liveBytes + (64 << 20));
  RefPtr<Buffer> large = memory.allocate(48 << 20).take();
  memory.note(*large, "f32[12582912] made at model.py:7");
  Result<RefPtr<Buffer>> more = memory.allocate(32 << 20);
  CHECK(!more.isOk() && more.status().code() == Code::OutOfMemory);
  const std::string &message = more.status().message();
  CHECK(message.find("cannot allocate 32.0 MiB (33554432 bytes)") != std::string::npos);
  CHECK(message.find(s->device().name()) != std::string::npos);
  CHECK(message.find("48.0 MiB f32[12582912] made at model.py:7") != std::string::npos);
  // Only the run that requests too much memory fails.
  auto hungry = s->executable(fails, "hungry", false, 32 << 20);
  CHECK(
      Subject::failureOf(Subject::launch(s->device(), hungry.get(), {s->value(1)})).find("cannot allocate 32.0 MiB") !=
      std::string::npos);
  CHECK(Subject::read(s->add(s->value(1), s->value(1))) == 2);
  large = nullptr;
  CHECK(memory.allocate(32 << 20).isOk());
}

void temporariesAreInTheDevicesMemory() {
  auto s = make();
  static std::atomic<const void *> seen;
  seen = nullptr;
  auto asks = s->executable(
      [](const PcrtFrame *frame) -> int32_t {
        seen = frame->arena;
        return PCRT_OK;
      },
      "asks", false, 8 << 20);
  s->device().memory().resetPeak();
  uint64_t before = s->device().memory().statistics().liveBytes;
  RefPtr<Buffer> result = Subject::launch(s->device(), asks.get(), {s->value(1)});
  CHECK(Subject::failureOf(result).empty());
  CHECK(seen && reinterpret_cast<uintptr_t>(seen.load()) % PCRT_ALIGNMENT == 0);
  CHECK(s->device().memory().statistics().peakBytes >= before + (8 << 20));
}

//===--- Order ----------------------------------------------------------------------------------------------------===//

void aLaunchReturnsBeforeItsInputsAreThere() {
  auto s = make();
  RefPtr<Buffer> held = s->held(1);
  RefPtr<Buffer> sum = s->add(held, s->value(2));
  CHECK(!held->isReady() && !sum->isReady() && s->device().stream().callsInFlight() >= 2);
  Subject::openGate();
  CHECK(Subject::read(sum) == 3);
}

void chainsRunInOrder() {
  auto s = make();
  RefPtr<Buffer> first = s->value(0), second = s->value(0), one = s->value(1), two = s->value(2);
  for (int i = 0; i < 200; ++i) {
    first = s->add(first, one);
    second = s->add(second, two);
  }
  CHECK(Subject::read(s->add(first, second)) == 600);
}

void aResultMayTakeTheMemoryOfAnArgument() {
  auto s = make();
  RefPtr<Buffer> first = s->value(1);
  const void *memory = first->data();
  RefPtr<Buffer> sum = s->add(first, s->value(2));
  CHECK(sum->data() == memory && sum->device() == &s->device());
  first = nullptr;
  CHECK(Subject::read(sum) == 3);
}

/// Further tokens that must be done before, failed or not.
void furtherTokensAreWaitedFor() {
  auto s = make();
  RefPtr<Buffer> broken = Subject::launch(s->device(), s->executable(fails, "broken").get(), {s->value(1)});
  RefPtr<Buffer> held = s->held(1);
  RefPtr<Buffer> one = s->value(1), two = s->value(2);
  RefPtr<Buffer> sum = Buffer::successor(*one);
  Token *after[] = {held->token(), broken->token()};
  Buffer *args[] = {one.get(), two.get()}, *results[] = {sum.get()};
  Token done;
  done.retain();
  Launch launch{s->adds.get(), args, 2, results, 1, "model.py:3"};
  launch.after = after;
  launch.afterCount = 2;
  launch.completes = &done;
  CHECK(s->device().stream().policyOf(launch) == Stream::LaunchPolicy::Async);
  s->device().stream().enqueue(launch);
  CHECK(!sum->isReady() && !done.isDone());
  Subject::openGate();
  CHECK(Subject::read(sum) == 3 && done.wait() && !done.error());
  CHECK(s->device().stream().synchronize());
}

void synchronizeWaitsForEverything() {
  auto s = make();
  RefPtr<Buffer> held = s->held(1);
  std::vector<RefPtr<Buffer>> sums;
  for (int i = 0; i < 20; ++i)
    sums.push_back(s->add(s->value(1), held));
  CHECK(!s->device().stream().synchronize([] { return true; })); // interrupted
  Subject::openGate();
  CHECK(s->device().stream().synchronize());
  for (const RefPtr<Buffer> &sum : sums)
    CHECK(sum->isReady() && Subject::read(sum) == 2);
}

void runningAheadIsBounded() {
  auto s = make(false, RunAhead{8, 1 << 20});
  RefPtr<Buffer> sum = s->held(0), one = s->value(1);
  Stream &stream = s->device().stream();
  int made = 0;
  for (; stream.hasRoom(Subject::bytes); ++made)
    sum = s->add(sum, one);
  CHECK(made > 0 && stream.callsInFlight() == 8 && stream.bytesInFlight() == 8 * Subject::bytes);
  CHECK(!stream.waitForRoom(Subject::bytes, [] { return true; })); // interrupted
  Subject::openGate();
  CHECK(stream.waitForRoom(Subject::bytes) && Subject::read(sum) == static_cast<float>(made));
}

void inPlaceMeansDone() {
  auto s = make(/*inPlace=*/true);
  RefPtr<Buffer> sum = s->add(s->value(1), s->value(1));
  CHECK(sum->isReady() && Subject::read(sum) == 2);
}

//===--- Copies ---------------------------------------------------------------------------------------------------===//

void copiesWaitForWhatTheyCopy() {
  auto s = make();
  RefPtr<Buffer> held = s->held(1);
  RefPtr<Buffer> sum = s->add(s->value(4), held);
  RefPtr<Buffer> there = Subject::launch(s->host, nullptr, {sum});
  RefPtr<Buffer> back = Subject::launch(s->device(), nullptr, {there});
  CHECK(!there->isReady() && !back->isReady());
  // The copies hold their sources.
  sum = held = nullptr;
  Subject::openGate();
  CHECK(there->device() == &s->host && Subject::read(there) == 5);
  CHECK(back->device() == &s->device() && Subject::read(back) == 5);
}

void copiesAreMemoryOfTheirOwn() {
  auto s = make();
  RefPtr<Buffer> first = s->value(1);
  RefPtr<Buffer> copy = Subject::launch(s->device(), nullptr, {first});
  RefPtr<Buffer> sum = s->add(first, s->value(1));
  CHECK(Subject::read(copy) == 1 && Subject::read(sum) == 2);
}

void largeCopies() {
  auto s = make();
  size_t bytes = size_t(40) << 20;
  std::vector<char> values(bytes), got(bytes);
  for (size_t i = 0; i < bytes; ++i)
    values[i] = static_cast<char>(i % 251);
  RefPtr<Buffer> there = s->device().memory().allocate(bytes).take();
  CHECK(s->device().write(there->data(), values.data(), bytes).isOk());
  CHECK(s->device().readBuffer(*there, got.data()).isOk() && got == values);
}

void compiledCodeReadsTheDevice() {
  auto s = make();
  auto reads = s->executable(wantsThree, "wants three", /*mayBlock=*/true);
  RefPtr<Buffer> three = s->add(s->held(1), s->value(2));
  RefPtr<Buffer> good = Subject::launch(s->device(), reads.get(), {three});
  RefPtr<Buffer> bad = Subject::launch(s->device(), reads.get(), {s->value(4)});
  Subject::openGate();
  CHECK(Subject::failureOf(good).empty());
  CHECK(Subject::failureOf(bad) == "wants three: a library routine refused its arguments (launched at model.py:3)");
}

//===--- Failures -------------------------------------------------------------------------------------------------===//

void failuresPoisonDependentsOnly() {
  auto s = make();
  RefPtr<Buffer> broken = Subject::launch(s->device(), s->executable(fails, "broken").get(), {s->value(1)});
  RefPtr<Buffer> poisoned = s->add(s->add(s->value(1), broken), s->value(1));
  RefPtr<Buffer> copied = Subject::launch(s->host, nullptr, {poisoned});
  RefPtr<Buffer> sibling = s->add(s->value(1), s->value(1));
  CHECK(Subject::failureOf(broken) == failure);
  // The first cause, wherever it is read.
  CHECK(Subject::failureOf(copied) == failure && copied->error() == broken->error());
  CHECK(poisoned->error() == broken->error() && Subject::read(sibling) == 2);
}

void failuresOfTheHostReachTheDevice() {
  auto s = make();
  auto bad = RefPtr<Executable>::adopt(new Executable(fails, 0, "broken", 1e9));
  RefPtr<Buffer> broken = Subject::launch(s->host, bad.get(), {Vectors::value(s->host, 1)});
  RefPtr<Buffer> there = Subject::launch(s->device(), nullptr, {broken});
  CHECK(Subject::failureOf(s->add(there, s->value(1))) == failure);
}

//===--- Participants ---------------------------------------------------------------------------------------------===//

/// Two participants give each other their vectors.
int32_t swaps(const PcrtFrame *frame) {
  const int64_t params[] = {PCRT_COLLECTIVE_PERMUTE, 0, 0, 0, 2, 1, 2, 0, 1, 0, 1, 1, 0}, size = Vectors::count;
  PcrtTensor in = {const_cast<void *>(frame->args[0]), &size, 1, PCRT_DTYPE_Float32};
  PcrtTensor out = {frame->results[0], &size, 1, PCRT_DTYPE_Float32};
  return frame->table->collective(frame, &in, 1, &out, 1, params);
}

/// All participants on one device, which is enough for each kind's collectives.
void participantsExchangeWhatTheyHave() {
  auto s = make();
  RefPtr<Executable> executable = s->executable(swaps, "swaps", /*mayBlock=*/true);
  RefPtr<Buffer> values[] = {s->add(s->value(1), s->value(2)), s->add(s->value(3), s->value(4))};
  for (int step = 0; step < 5; ++step) {
    auto run = RefPtr<Rendezvous>::adopt(new Rendezvous(2, {&s->device(), &s->device()}));
    RefPtr<Buffer> results[2];
    for (unsigned p = 0; p < 2; ++p) {
      results[p] = s->device().memory().allocate(Vectors::bytes).take();
      Buffer *arg = values[p].get(), *result = results[p].get();
      Launch launch = {executable.get(), &arg, 1, &result, 1, "model.py:3"};
      launch.participant = run->join(p);
      s->device().stream().enqueue(launch);
    }
    std::copy(results, results + 2, values);
  }
  CHECK(Subject::read(values[0]) == 7 && Subject::read(values[1]) == 3);
}

//===--- Threads --------------------------------------------------------------------------------------------------===//

/// Launches and copies in both directions, from several threads.
void manyThreads() {
  auto s = make();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      RefPtr<Buffer> value = s->value(static_cast<float>(number));
      for (int i = 0; i < 50; ++i) {
        value = s->add(value, s->value(1));
        if (i % 5 == 0)
          value = Subject::launch(s->device(), nullptr, {Subject::launch(s->host, nullptr, {value})});
      }
      CHECK(Subject::read(value) == static_cast<float>(number + 50));
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

int main(int argc, char **argv) {
  kind = argc == 2 ? Kind::named(argv[1]) : nullptr;
  if (!kind) {
    std::fprintf(stderr, "usage: ConformanceTest cpu|emulated|gpu\n");
    return 2;
  }
  if (std::string why = kind->missing(); !why.empty()) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  RUN(bytesComeBack);
  RUN(memoryIsCounted);
  RUN(outOfMemoryNamesBuffers);
  RUN(temporariesAreInTheDevicesMemory);
  RUN(aLaunchReturnsBeforeItsInputsAreThere);
  RUN(chainsRunInOrder);
  RUN(aResultMayTakeTheMemoryOfAnArgument);
  RUN(furtherTokensAreWaitedFor);
  RUN(synchronizeWaitsForEverything);
  RUN(runningAheadIsBounded);
  RUN(inPlaceMeansDone);
  RUN(copiesWaitForWhatTheyCopy);
  RUN(copiesAreMemoryOfTheirOwn);
  RUN(largeCopies);
  RUN(compiledCodeReadsTheDevice);
  RUN(failuresPoisonDependentsOnly);
  RUN(failuresOfTheHostReachTheDevice);
  RUN(participantsExchangeWhatTheyHave);
  RUN(manyThreads);
  return test::failures() != 0;
}

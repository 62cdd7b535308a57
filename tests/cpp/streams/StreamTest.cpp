// Launches: in place or enqueued, their order, the bound on run-ahead, and the propagation of errors.
#include "runtime/Stream.h"
#include "Check.h"
#include "runtime/BufferPool.h"
#include "runtime/CpuDevice.h"
#include "runtime/Executable.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <thread>
#include <vector>

using namespace pcrt;

//===-- Kernels
//-----------------------------------------------------------------------------------------------------===//

static int32_t addOne(const PcrtFrame *frame) {
  *static_cast<int64_t *>(frame->results[0]) = *static_cast<const int64_t *>(frame->args[0]) + 1;
  return PCRT_OK;
}

static int32_t sum(const PcrtFrame *frame) {
  *static_cast<int64_t *>(frame->results[0]) =
      *static_cast<const int64_t *>(frame->args[0]) + *static_cast<const int64_t *>(frame->args[1]);
  return PCRT_OK;
}

static int32_t slowAddOne(const PcrtFrame *frame) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return addOne(frame);
}

static int32_t fails(const PcrtFrame *) { return PCRT_LIBRARY_FAILED; }

static int32_t failsAtTheSecondSite(const PcrtFrame *) { return PCRT_OUT_OF_MEMORY | 2 << PCRT_STATUS_BITS; }
static int32_t failsAtAnUnknownSite(const PcrtFrame *) { return PCRT_LIBRARY_FAILED | 9 << PCRT_STATUS_BITS; }
static int32_t unknownStatus(const PcrtFrame *) { return -7; }

static int32_t failsAndSaysWhy(const PcrtFrame *frame) {
  const RunContext &run = RunContext::of(frame);
  int32_t code = run.fail(Status(Code::OutOfMemory, "no room for the weights", CallSite{"load", ""}));
  CHECK(run.fail(Status(Code::LibraryFailed, "too late")) == PCRT_LIBRARY_FAILED);
  return code | 2 << PCRT_STATUS_BITS;
}

static std::atomic<bool> gateOpen;

/// Runs until the test opens the gate.
static int32_t gated(const PcrtFrame *frame) {
  while (!gateOpen)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return addOne(frame);
}

static std::atomic<int> admissions;

/// Runs until the test admits one more call.
static int32_t admitted(const PcrtFrame *frame) {
  for (int left = admissions; left == 0 || !admissions.compare_exchange_weak(left, left - 1); left = admissions)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return addOne(frame);
}

static std::atomic<int> begun;

/// The input is the number of iterations.
static int32_t counts(const PcrtFrame *frame) {
  ++begun;
  int64_t trips = *static_cast<const int64_t *>(frame->args[0]), budget = frame->budget;
  for (int64_t i = 0; i < trips; ++i)
    if (--budget < 0)
      return PCRT_OUT_OF_BUDGET;
  *static_cast<int64_t *>(frame->results[0]) = trips;
  return PCRT_OK;
}

static std::atomic<int> running, mostRunning;

static int32_t meets(const PcrtFrame *frame) {
  int now = ++running;
  mostRunning = std::max(mostRunning.load(), now);
  for (int i = 0; i < 2000 && mostRunning < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  --running;
  return addOne(frame);
}

static constexpr double cheap = 100, dear = 1e9;

namespace {
/// A stream with its own pool and memory, and calls on single int64s.
struct Fixture {
  explicit Fixture(unsigned threads = 2, bool inPlace = false, RunAhead bound = {}, unsigned cores = 2)
      : pool(threads, cores), device(7, pool, inPlace, bound), memory(device.memory()), stream(device.stream()) {}
  ~Fixture() {
    CHECK(stream.synchronize());
    CHECK(stream.callsInFlight() == 0 && stream.bytesInFlight() == 0);
    pool.shutdown();
  }

  RefPtr<Buffer> value(int64_t number) {
    RefPtr<Buffer> buffer = memory.allocate(sizeof(int64_t)).take();
    *static_cast<int64_t *>(buffer->data()) = number;
    return buffer;
  }
  RefPtr<Executable> executable(PcrtEntry entry, double costNs, const char *name = "kernel",
                                double speculativeNs = Executable::noSpeculation) {
    return RefPtr<Executable>::adopt(new Executable(entry, 0, name, costNs, /*mayBlock=*/false, speculativeNs));
  }
  Stream::LaunchPolicy policy(Executable &executable, std::vector<RefPtr<Buffer>> args) {
    return with(executable, args, [&](Launch launch) { return stream.policyOf(launch); });
  }
  RefPtr<Buffer> enqueue(Executable &executable, const std::vector<RefPtr<Buffer>> &args) {
    with(executable, args, [&](Launch launch) { return stream.enqueue(launch), 0; });
    return lastResult;
  }
  bool speculate(Executable &executable, const std::vector<RefPtr<Buffer>> &args) {
    return with(executable, args, [&](Launch launch) { return stream.runSpeculatively(launch); });
  }
  RefPtr<Buffer> runInPlace(Executable &executable, const std::vector<RefPtr<Buffer>> &args) {
    with(executable, args, [&](Launch launch) { return stream.runInPlace(launch), 0; });
    return lastResult;
  }

  ThreadPool pool;
  CpuDevice device;
  BufferPool &memory;
  Stream &stream;
  RefPtr<Buffer> lastResult;
  std::pair<Token *const *, unsigned> after{nullptr, 0};
  /// Of each result; the first ones are the number.
  size_t resultBytes = sizeof(int64_t);

private:
  template <typename Use>
  auto with(Executable &executable, const std::vector<RefPtr<Buffer>> &args, Use use)
      -> decltype(use(std::declval<Launch>())) {
    std::vector<Buffer *> raw;
    for (const RefPtr<Buffer> &arg : args)
      raw.push_back(arg.get());
    lastResult = memory.allocate(resultBytes).take();
    Buffer *result = lastResult.get();
    Launch launch{&executable, raw.data(), static_cast<unsigned>(raw.size()), &result, 1, "test.py:1"};
    launch.after = after.first;
    launch.afterCount = after.second;
    return use(launch);
  }
};
} // namespace

static int64_t read(const RefPtr<Buffer> &buffer) {
  if (buffer->token())
    CHECK(buffer->token()->wait());
  CHECK(buffer->isReady() && !buffer->error());
  return *static_cast<const int64_t *>(buffer->data());
}

//===-- Tests
//-------------------------------------------------------------------------------------------------------===//

static void waitsForFurtherTokens() {
  Fixture f;
  auto slow = f.executable(gated, dear), quick = f.executable(addOne, cheap), broken = f.executable(fails, dear);
  auto one = f.value(1);
  gateOpen = false;
  auto first = f.enqueue(*slow, {one}), failed = f.enqueue(*broken, {one});
  Token *after[] = {first->token(), failed->token()};
  f.after = {after, 2};
  CHECK(f.policy(*quick, {one}) == Stream::LaunchPolicy::Async);
  auto second = f.enqueue(*quick, {one});
  f.after = {nullptr, 0};
  CHECK(failed->token()->wait() && failed->error());
  CHECK(!second->isReady());
  gateOpen = true;
  CHECK(read(second) == 2 && first->isReady());
}

/// The table's routines find the device in the frame.
static int32_t asksForItsDevice(const PcrtFrame *frame) {
  const RunContext &context = RunContext::of(frame);
  *static_cast<int64_t *>(frame->results[0]) = context.device.id() + (context.executable.mayBlock() ? 100 : 0);
  return PCRT_OK;
}

static void knowsTheRun() {
  Fixture f;
  auto asks = RefPtr<Executable>::adopt(new Executable(asksForItsDevice, 0, "asks", cheap, /*mayBlock=*/true));
  CHECK(f.policy(*asks, {f.value(1)}) == Stream::LaunchPolicy::Async);
  CHECK(read(f.enqueue(*asks, {f.value(1)})) == 107);
  Fixture inPlace(2, true);
  CHECK(inPlace.policy(*asks, {inPlace.value(1)}) == Stream::LaunchPolicy::InlineWithoutGil);
}

static void chooses() {
  Fixture f;
  auto quick = f.executable(addOne, cheap), slow = f.executable(gated, dear), medium = f.executable(addOne, 15000);
  auto ready = f.value(1);
  CHECK(f.policy(*quick, {ready}) == Stream::LaunchPolicy::Inline);
  CHECK(f.policy(*medium, {ready}) == Stream::LaunchPolicy::InlineWithoutGil);
  CHECK(f.policy(*slow, {ready}) == Stream::LaunchPolicy::Async);
  gateOpen = false;
  auto pending = f.enqueue(*slow, {ready});
  CHECK(f.policy(*quick, {pending}) == Stream::LaunchPolicy::Async);
  gateOpen = true;
  CHECK(read(pending) == 2);
  CHECK(f.policy(*quick, {pending}) == Stream::LaunchPolicy::Inline);
}

static void handsNothingShortOverOnOneCore() {
  Fixture f(1, /*inPlace=*/false, {}, /*cores=*/1);
  auto quick = f.executable(addOne, 50000), slow = f.executable(addOne, 200000);
  auto ready = f.value(1);
  CHECK(f.policy(*quick, {ready}) == Stream::LaunchPolicy::Inline);
  CHECK(f.policy(*slow, {ready}) == Stream::LaunchPolicy::Async);
  CHECK(Fixture().policy(*quick, {ready}) == Stream::LaunchPolicy::Async);
}

static void returnsBeforeTheWorkIsDone() {
  Fixture f;
  gateOpen = false;
  auto result = f.enqueue(*f.executable(gated, dear), {f.value(1)});
  CHECK(!result->isReady());
  gateOpen = true;
  CHECK(read(result) == 2);
}

static void inPlaceWhenAskedFor() {
  Fixture f(2, /*inPlace=*/true);
  auto slow = f.executable(slowAddOne, dear);
  CHECK(f.policy(*slow, {f.value(1)}) == Stream::LaunchPolicy::InlineWithoutGil);
  auto result = f.runInPlace(*slow, {f.value(1)});
  CHECK(!result->token() && read(result) == 2 && f.pool.liveThreads() == 0);
}

static void chainsRunInOrder() {
  Fixture f;
  auto step = f.executable(addOne, dear), add = f.executable(sum, dear);
  auto x = f.value(0), y = f.value(100);
  for (int i = 0; i < 2000; ++i) {
    x = f.enqueue(*step, {x});
    if (i % 100 == 0)
      y = f.enqueue(*add, {x, y});
  }
  CHECK(read(x) == 2000);
  CHECK(read(y) == 100 + 20 * 1 + 100 * 190);
}

static void sameInputTwice() {
  Fixture f;
  gateOpen = false;
  auto x = f.enqueue(*f.executable(gated, dear), {f.value(20)});
  auto doubled = f.enqueue(*f.executable(sum, dear), {x, x});
  gateOpen = true;
  CHECK(read(doubled) == 42);
}

static void independentCallsOverlap() {
  Fixture f;
  mostRunning = 0;
  auto kernel = f.executable(meets, dear);
  auto a = f.enqueue(*kernel, {f.value(1)}), b = f.enqueue(*kernel, {f.value(2)});
  CHECK(read(a) == 2 && read(b) == 3 && mostRunning == 2);
}

static void errorsPoisonDependentsOnly() {
  Fixture f;
  auto step = f.executable(addOne, dear), add = f.executable(sum, dear);
  auto first = f.executable(fails, dear, "first"), second = f.executable(fails, dear, "second");
  auto broken = f.enqueue(*first, {f.value(1)}), alsoBroken = f.enqueue(*second, {f.value(1)});
  auto poisoned = f.enqueue(*add, {f.enqueue(*step, {broken}), alsoBroken});
  auto sibling = f.enqueue(*step, {f.value(1)});
  CHECK(read(sibling) == 2);
  CHECK(poisoned->token()->wait());
  REQUIRE(poisoned->error());
  CHECK(poisoned->error()->text() == "first: a library routine failed (launched at test.py:1)");
  // In place, the error propagates as well, and the next call works.
  auto later = f.runInPlace(*step, {poisoned});
  CHECK(later->error() == poisoned->error());
  CHECK(read(f.runInPlace(*step, {f.value(4)})) == 5);
  auto inPlace = f.runInPlace(*f.executable(fails, cheap, "third"), {f.value(1)});
  REQUIRE(inPlace->error());
  CHECK(inPlace->error()->executable == "third");
}

static void errorsNameTheOperation() {
  Fixture f;
  auto run = [&](PcrtEntry entry) {
    auto executable = f.executable(entry, cheap, "step");
    executable->setCallSites({{"sort", "model.py:3"}, {"cholesky", "model.py:7"}});
    auto result = f.runInPlace(*executable, {f.value(1)});
    REQUIRE(result->error());
    return RefPtr<Error>(result->error());
  };
  auto error = run(failsAtTheSecondSite);
  CHECK(error->code == Code::OutOfMemory && error->site.primitive == "cholesky" && error->site.place == "model.py:7");
  CHECK(error->text() == "step: cholesky: out of memory in a library routine (at model.py:7, launched at test.py:1)");
  CHECK(run(failsAndSaysWhy)->text() == "step: load: no room for the weights (at model.py:7, launched at test.py:1)");
  CHECK(run(failsAtAnUnknownSite)->text() == "step: a library routine failed (launched at test.py:1)");
  CHECK(run(unknownStatus)->code == Code::Unknown);
}

static void payloadsLiveAsLongAsTheyCanBeRead() {
  static std::atomic<int> alive;
  struct Counted final : Payload {
    Counted() { ++alive; }
    ~Counted() override { --alive; }
  };
  alive = 0;
  Fixture f;
  auto step = f.executable(addOne, dear);
  {
    RefPtr<Buffer> poisoned;
    {
      auto cause = f.value(0);
      Status status(Code::CallbackFailed, "no", CallSite{"pure_callback", "model.py:2"},
                    RefPtr<Payload>::adopt(new Counted()));
      cause->setToken(Token::failed(RefPtr<Error>::adopt(new Error(status, "step", "main.py:1"))));
      poisoned = f.enqueue(*step, {f.enqueue(*step, {cause})});
    }
    CHECK(poisoned->token()->wait());
    REQUIRE(poisoned->error());
    CHECK(poisoned->error()->payload && alive == 1);
    CHECK(poisoned->error()->text() == "step: pure_callback: no (at model.py:2, launched at main.py:1)");
  }
  f.lastResult = nullptr;
  // The task that a waiter ran stays in the queue until a worker removes it.
  CHECK(f.stream.synchronize());
  for (int i = 0; i < 10000 && alive != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(alive == 0);
}

static void runAheadIsBounded() {
  Fixture f(2, false, RunAhead{8, 1 << 20});
  auto kernel = f.executable(gated, dear);
  gateOpen = false;
  std::vector<RefPtr<Buffer>> results;
  while (f.stream.hasRoom(8))
    results.push_back(f.enqueue(*kernel, {f.value(1)}));
  CHECK(results.size() == 8);
  std::atomic<bool> hadRoom{false};
  std::thread waiter([&] {
    CHECK(f.stream.waitForRoom(8));
    hadRoom = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(!hadRoom);
  CHECK(!f.stream.waitForRoom(8, [] { return true; })); // interrupted
  gateOpen = true;
  waiter.join();
  CHECK(hadRoom);
}

static void runAheadIsBoundedInBytes() {
  Fixture f(1, false, RunAhead{1000, 20});
  auto kernel = f.executable(gated, dear);
  gateOpen = false;
  CHECK(f.stream.hasRoom(1 << 30)); // one call is always allowed
  auto a = f.enqueue(*kernel, {f.value(1)});
  CHECK(f.stream.hasRoom(8) && !f.stream.hasRoom(16));
  auto b = f.enqueue(*kernel, {f.value(1)});
  CHECK(!f.stream.hasRoom(8));
  gateOpen = true;
}

static void farAheadFreedMemoryIsReused() {
  constexpr size_t large = size_t(64) << 10;
  Fixture f(2, false, RunAhead{1000, 1 << 30, 4, 2 * large});
  f.resultBytes = large;
  auto kernel = f.executable(gated, dear);
  gateOpen = false;
  RefPtr<Buffer> last = f.value(0);
  auto launch = [&] { last = f.enqueue(*kernel, {std::move(last)}); };
  for (int i = 0; i < 4; ++i) {
    CHECK(!f.stream.isFarAhead() && !f.stream.lacksFreed(large));
    f.stream.waitForFreed(large); // returns at once
    launch();
  }
  // Four calls, of more than 128 KiB.
  CHECK(f.stream.isFarAhead() && f.stream.lacksFreed(large) && !f.stream.lacksFreed(large / 2));
  // A freed block may be taken.
  CHECK(f.memory.allocate(large).isOk());
  CHECK(f.memory.hasFreed(large) && !f.stream.lacksFreed(large));
  launch();
  CHECK(!f.memory.hasFreed(large) && f.stream.lacksFreed(large));
  // The calls may wait for this thread: after a while, twice as many may take new memory.
  f.stream.waitForFreed(large);
  for (int i = 5; i < 10; ++i) {
    CHECK(f.stream.isFarAhead() && !f.stream.lacksFreed(large));
    launch();
  }
  CHECK(f.stream.lacksFreed(large));
  gateOpen = true;
  CHECK(read(last) == 10);
  // Something ended since the wait in vain: its blocks are free.
  CHECK(f.stream.synchronize() && f.memory.hasFreed(large) && !f.stream.isFarAhead());
}

static void endsFreeMemoryForTheNextCalls() {
  constexpr size_t large = size_t(64) << 10;
  Fixture f(1, false, RunAhead{1000, 1 << 30, 4, 0});
  f.resultBytes = large;
  auto kernel = f.executable(admitted, dear);
  admissions = 0;
  RefPtr<Buffer> last = f.memory.allocate(large).take();
  *static_cast<int64_t *>(last->data()) = 0;
  auto launch = [&] { last = f.enqueue(*kernel, {std::move(last)}); };
  for (int i = 0; i < 4; ++i)
    launch();
  for (int i = 4; i < 20; ++i) {
    ++admissions; // one of them may end
    while (f.stream.lacksFreed(large) || f.stream.callsInFlight() == 4)
      f.stream.waitForFreed(large);
    CHECK(f.memory.hasFreed(large));
    launch();
  }
  admissions += 4;
  CHECK(read(last) == 20 && f.memory.statistics().peakBytes <= 6 * large);
}

static void argumentsLiveUntilUsed() {
  Fixture f;
  gateOpen = false;
  RefPtr<Buffer> result;
  {
    auto argument = f.value(6);
    result = f.enqueue(*f.executable(gated, dear), {argument});
  }
  auto other = f.value(99); // would reuse the argument's block, had it been freed
  gateOpen = true;
  CHECK(read(result) == 7);
}

static void measuredCostDecides() {
  Fixture f;
  // Its estimate is expensive, but its runs are cheap.
  auto kernel = f.executable(addOne, dear);
  for (int i = 0; i < 64 && f.policy(*kernel, {f.value(1)}) == Stream::LaunchPolicy::Async; ++i)
    read(f.enqueue(*kernel, {f.value(1)}));
  CHECK(f.policy(*kernel, {f.value(1)}) != Stream::LaunchPolicy::Async);
}

static void triesWhatMayBeShort() {
  Fixture f;
  constexpr double unknown = Executable::noSpeculation;
  auto loop = f.executable(counts, unknown, "loop", cheap), other = f.executable(counts, unknown, "other", dear);
  auto few = f.value(100), many = f.value(1000000);
  CHECK(f.policy(*other, {few}) == Stream::LaunchPolicy::Async);
  CHECK(f.policy(*loop, {few}) == Stream::LaunchPolicy::Speculative);
  CHECK(f.speculate(*loop, {few}));
  CHECK(read(f.lastResult) == 100);

  // A stopped run has no effect, and is enqueued.
  begun = 0;
  CHECK(f.policy(*loop, {many}) == Stream::LaunchPolicy::Speculative);
  CHECK(!f.speculate(*loop, {many}));
  CHECK(f.lastResult->isReady() && !f.lastResult->error());
  CHECK(read(f.enqueue(*loop, {many})) == 1000000);
  CHECK(begun == 2);

  // The more speculative runs stopped, the longer it waits until the next one; a success resets this.
  for (int calls : {1, 3, 7}) {
    for (int i = 0; i < calls; ++i)
      CHECK(f.policy(*loop, {many}) == Stream::LaunchPolicy::Async);
    CHECK(f.policy(*loop, {many}) == Stream::LaunchPolicy::Speculative);
    CHECK(!f.speculate(*loop, {many}));
  }
  for (int i = 0; i < 15; ++i)
    CHECK(f.policy(*loop, {few}) == Stream::LaunchPolicy::Async);
  CHECK(f.policy(*loop, {few}) == Stream::LaunchPolicy::Speculative);
  CHECK(f.speculate(*loop, {few}));
  CHECK(f.policy(*loop, {few}) == Stream::LaunchPolicy::Speculative);

  // Not before the inputs are ready; and a failed input fails the result.
  gateOpen = false;
  auto slow = f.executable(gated, dear), broken = f.executable(fails, dear);
  auto pending = f.enqueue(*slow, {few});
  CHECK(f.policy(*loop, {pending}) == Stream::LaunchPolicy::Async);
  gateOpen = true;
  CHECK(read(pending) == 101);
  auto poisoned = f.runInPlace(*broken, {few});
  CHECK(f.speculate(*loop, {poisoned}));
  CHECK(f.lastResult->error() && f.lastResult->error()->code == Code::LibraryFailed);

  Fixture inPlace(1, /*inPlace=*/true);
  auto same = inPlace.executable(counts, unknown, "loop", cheap);
  CHECK(inPlace.policy(*same, {few}) == Stream::LaunchPolicy::InlineWithoutGil);
}

static void manyThreadsLaunch() {
  Fixture f(2);
  auto step = f.executable(addOne, dear);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Fixture *shared = &f;
      for (int round = 0; round < 100; ++round) {
        RefPtr<Buffer> x = shared->value(0);
        for (int i = 0; i < 10; ++i) {
          RefPtr<Buffer> result = shared->memory.allocate(sizeof(int64_t)).take();
          Buffer *in = x.get(), *out = result.get();
          shared->stream.enqueue(Launch{step.get(), &in, 1, &out, 1, nullptr});
          x = result;
        }
        CHECK(read(x) == 10);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

int main() {
  RUN(chooses);
  RUN(handsNothingShortOverOnOneCore);
  RUN(returnsBeforeTheWorkIsDone);
  RUN(inPlaceWhenAskedFor);
  RUN(chainsRunInOrder);
  RUN(waitsForFurtherTokens);
  RUN(knowsTheRun);
  RUN(sameInputTwice);
  RUN(independentCallsOverlap);
  RUN(errorsPoisonDependentsOnly);
  RUN(errorsNameTheOperation);
  RUN(payloadsLiveAsLongAsTheyCanBeRead);
  RUN(runAheadIsBounded);
  RUN(runAheadIsBoundedInBytes);
  RUN(farAheadFreedMemoryIsReused);
  RUN(endsFreeMemoryForTheNextCalls);
  RUN(argumentsLiveUntilUsed);
  RUN(measuredCostDecides);
  RUN(triesWhatMayBeShort);
  RUN(manyThreadsLaunch);
  return test::failures() != 0;
}

// Callbacks of compiled code: waiting, their threads, and a callback that waits for another; the order of launches with
// effects, and waits for all of them.
#include "runtime/HostCallback.h"
#include "Check.h"
#include "runtime/BufferPool.h"
#include "runtime/Callbacks.h"
#include "runtime/CpuDevice.h"
#include "runtime/EffectfulLaunch.h"
#include "runtime/Executable.h"
#include "runtime/Stream.h"
#include "runtime/ThreadPool.h"

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace pcrt;

//===-- Callbacks and code
//-------------------------------------------------------------------------------------------===//

namespace {
using Body = std::function<Status(const PcrtTensor *inputs, const PcrtTensor *outputs)>;

class TestCallback final : public HostCallback {
public:
  TestCallback(bool detached, Body body)
      : HostCallback(detached ? Kind::Detached : Kind::Waited), body(std::move(body)) {}
  Status invoke(const RunContext *, const PcrtTensor *inputs, int32_t, const PcrtTensor *outputs, int32_t) override {
    return body(inputs, outputs);
  }

private:
  Body body;
};
} // namespace

static RefPtr<HostCallback> callback(Body body, bool detached = false) {
  return RefPtr<HostCallback>::adopt(new TestCallback(detached, std::move(body)));
}

static int32_t callSlot(const PcrtFrame *frame, int64_t slot, bool hasOutput) {
  int64_t input = frame->args[0] ? *static_cast<const int64_t *>(frame->args[0]) : 0;
  PcrtTensor in = {&input, nullptr, 0, PCRT_DTYPE_Int64};
  PcrtTensor out = {hasOutput ? frame->results[0] : nullptr, nullptr, 0, PCRT_DTYPE_Int64};
  int32_t status = frame->table->host_call(frame, &in, 1, &out, hasOutput ? 1 : 0, &slot);
  input = -1; // a later read must be from a copy
  return status;
}

static int32_t callsFirst(const PcrtFrame *frame) { return callSlot(frame, 0, true); }

static int32_t looksAt(const PcrtFrame *frame) {
  int32_t status = callSlot(frame, 0, false);
  *static_cast<int64_t *>(frame->results[0]) = *static_cast<const int64_t *>(frame->args[0]);
  return status;
}

static int32_t looksFourTimes(const PcrtFrame *frame) {
  for (int i = 0; i < 4; ++i)
    if (int32_t status = looksAt(frame))
      return status;
  return PCRT_OK;
}

static int32_t callsNothing(const PcrtFrame *frame) { return callSlot(frame, 5, true); }

static int64_t valueOf(const PcrtTensor &tensor) { return *static_cast<const int64_t *>(tensor.data); }

namespace {
struct Fixture {
  explicit Fixture(unsigned threads = 2, bool inPlace = false)
      : pool(threads), device(7, pool, inPlace), stream(device.stream()) {}
  ~Fixture() {
    CHECK(stream.synchronize());
    CHECK(callbacks::drain());
    CHECK(EffectfulLaunch::waitForAll(nullptr));
    pool.shutdown();
  }

  RefPtr<Buffer> value(int64_t number) {
    RefPtr<Buffer> buffer = device.memory().allocate(sizeof(int64_t)).take();
    *static_cast<int64_t *>(buffer->data()) = number;
    return buffer;
  }
  RefPtr<Executable> executable(PcrtEntry entry, std::vector<RefPtr<HostCallback>> table,
                                Executable::Effects effects = Executable::Effects::None) {
    auto made = RefPtr<Executable>::adopt(new Executable(entry, 0, "calls", 100, /*mayBlock=*/true));
    made->setCallbacks(std::move(table), effects);
    return made;
  }
  RefPtr<Buffer> launch(Executable &executable, int64_t number) { return launch(executable, value(number)); }
  RefPtr<Buffer> launch(Executable &executable, const RefPtr<Buffer> &arg) {
    RefPtr<Buffer> result = device.memory().allocate(sizeof(int64_t)).take();
    Buffer *rawArg = arg.get(), *rawResult = result.get();
    Launch launch{&executable, &rawArg, 1, &rawResult, 1, "test.py:1"};
    CHECK(stream.policyOf(launch) != Stream::LaunchPolicy::Inline);
    bool here = stream.policyOf(launch) == Stream::LaunchPolicy::InlineWithoutGil;
    if (executable.effects() == Executable::Effects::None) {
      here ? stream.runInPlace(launch) : stream.enqueue(launch);
      return result;
    }
    EffectfulLaunch effectful(launch, executable.effects());
    if (here)
      CHECK(effectful.runInPlace(stream, nullptr));
    else
      effectful.enqueue(stream);
    return result;
  }

  ThreadPool pool;
  CpuDevice device;
  Stream &stream;
};
} // namespace

static int64_t read(const RefPtr<Buffer> &buffer) {
  if (buffer->token())
    CHECK(buffer->token()->wait());
  return buffer->error() ? -1 : *static_cast<int64_t *>(buffer->data());
}

static Status doubles(const PcrtTensor *inputs, const PcrtTensor *outputs) {
  *static_cast<int64_t *>(outputs[0].data) = 2 * valueOf(inputs[0]);
  return Status::ok();
}

static void sleepFor(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

//===-- Results and failures
//-----------------------------------------------------------------------------------------===//

static void whatItGivesIsAResult() {
  Fixture f;
  std::thread::id thread;
  RefPtr<Executable> executable = f.executable(callsFirst, {callback([&](auto *inputs, auto *outputs) {
                                                 thread = std::this_thread::get_id();
                                                 CHECK(callbacks::isRunning());
                                                 return doubles(inputs, outputs);
                                               })});
  CHECK(read(f.launch(*executable, 21)) == 42);
  CHECK(thread != std::this_thread::get_id());
  CHECK(!callbacks::isRunning());
}

static void aFailureIsTheLaunchs() {
  Fixture f;
  RefPtr<Executable> fails =
      f.executable(callsFirst, {callback([](auto *, auto *) { return Status(Code::CallbackFailed, "no such file"); })});
  RefPtr<Executable> doubled = f.executable(callsFirst, {callback(doubles)});
  RefPtr<Buffer> failed = f.launch(*fails, 1);
  RefPtr<Buffer> dependent = f.launch(*doubled, failed);
  RefPtr<Buffer> sibling = f.launch(*doubled, 4);
  CHECK(read(failed) == -1 && read(dependent) == -1 && read(sibling) == 8);
  CHECK(failed->error()->code == Code::CallbackFailed);
  CHECK(failed->error()->text().find("no such file") != std::string::npos);
  CHECK(dependent->error() == failed->error());
}

static void aSlotThatIsNotThere() {
  Fixture f;
  RefPtr<Buffer> result = f.launch(*f.executable(callsNothing, {}), 1);
  CHECK(read(result) == -1 && result->error()->code == Code::InvalidArgument);
}

//===-- Waiting and not waiting
//--------------------------------------------------------------------------------------===//

static void detachedOnesDoNotHoldUpTheCode() {
  Fixture f;
  std::atomic<bool> open{false};
  std::vector<int64_t> seen;
  RefPtr<Executable> executable = f.executable(looksFourTimes,
                                               {callback(
                                                   [&](auto *inputs, auto *) {
                                                     while (!open)
                                                       sleepFor(1);
                                                     seen.push_back(valueOf(inputs[0]));
                                                     return Status::ok();
                                                   },
                                                   /*detached=*/true)},
                                               Executable::Effects::Unordered);
  RefPtr<Buffer> first = f.launch(*executable, 1), second = f.launch(*executable, 2);
  CHECK(read(first) == 1 && read(second) == 2); // while the first callback waits
  CHECK(callbacks::pending() == 8);
  open = true;
  CHECK(callbacks::drain());
  CHECK(callbacks::pending() == 0 && seen.size() == 8);
  int64_t sum = 0;
  for (int64_t number : seen)
    sum += number;
  CHECK(sum == 4 * 1 + 4 * 2);
}

static void aFailureOfADetachedOneIsKept() {
  Fixture f;
  RefPtr<Executable> executable =
      f.executable(looksAt, {callback([](auto *, auto *) { return Status(Code::CallbackFailed, "no printer"); },
                                      /*detached=*/true)});
  CHECK(!callbacks::takeFailure());
  CHECK(read(f.launch(*executable, 3)) == 3);
  CHECK(callbacks::drain());
  RefPtr<Error> failure = callbacks::takeFailure();
  CHECK(failure && failure->message == "no printer");
  CHECK(!callbacks::takeFailure());
}

static void manyDetachedOnesAreBounded() {
  Fixture f;
  std::atomic<int> count{0};
  RefPtr<Executable> executable = f.executable(looksFourTimes, {callback(
                                                                   [&](auto *, auto *) {
                                                                     ++count;
                                                                     return Status::ok();
                                                                   },
                                                                   /*detached=*/true)});
  for (int i = 0; i < 2000; ++i)
    CHECK(read(f.launch(*executable, i)) == i);
  CHECK(callbacks::drain());
  CHECK(count == 8000);
}

static void aCallbackWaitsForCodeThatCallsBack() {
  // One thread for code, one for callbacks; each level blocks both.
  for (bool inPlace : {false, true}) {
    Fixture f(1, inPlace);
    RefPtr<Executable> innermost = f.executable(callsFirst, {callback(doubles)});
    RefPtr<Executable> outer = innermost;
    for (int level = 0; level < 4; ++level) {
      RefPtr<Executable> inner = outer;
      outer = f.executable(callsFirst, {callback([&f, inner](auto *inputs, auto *outputs) {
                             RefPtr<Buffer> result = f.launch(*inner, valueOf(inputs[0]) + 1);
                             *static_cast<int64_t *>(outputs[0].data) = read(result);
                             return Status::ok();
                           })});
    }
    CHECK(read(f.launch(*outer, 1)) == 2 * (1 + 4));
  }
}

//===-- Order
//--------------------------------------------------------------------------------------------------------===//

static void orderedLaunchesFollowOneAnother() {
  for (bool inPlace : {false, true}) {
    Fixture f(4, inPlace);
    std::vector<int64_t> seen;
    RefPtr<Executable> executable = f.executable(looksFourTimes, {callback([&](auto *inputs, auto *) {
                                                   if (valueOf(inputs[0]) % 3 == 0)
                                                     sleepFor(1);
                                                   seen.push_back(valueOf(inputs[0]));
                                                   return Status::ok();
                                                 })},
                                                 Executable::Effects::Ordered);
    for (int64_t i = 0; i < 20; ++i)
      f.launch(*executable, i);
    CHECK(EffectfulLaunch::waitForAll(nullptr));
    REQUIRE(seen.size() == 80);
    for (int64_t i = 0; i < 80; ++i)
      CHECK(seen[i] == i / 4);
  }
}

static void threadsTakeTurns() {
  Fixture f(4);
  std::vector<int64_t> seen;
  RefPtr<Executable> executable = f.executable(looksFourTimes, {callback([&](auto *inputs, auto *) {
                                                 seen.push_back(valueOf(inputs[0]));
                                                 return Status::ok();
                                               })},
                                               Executable::Effects::Ordered);
  std::vector<std::thread> threads;
  for (int64_t number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      for (int64_t i = 0; i < 25; ++i)
        f.launch(*executable, 100 * number + i);
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(EffectfulLaunch::waitForAll(nullptr));
  REQUIRE(seen.size() == 400);
  std::vector<int64_t> next(4, 0);
  for (size_t i = 0; i < seen.size(); i += 4) {
    CHECK(seen[i] == seen[i + 3]); // launches don't mix
    CHECK(seen[i] % 100 == next[seen[i] / 100]++);
  }
}

static void anOrderedCallbackLaunchesOrderedCode() {
  // Its launches cannot come after the launch that waits for it.
  Fixture f(2);
  std::vector<int64_t> seen;
  RefPtr<Executable> inner = f.executable(looksAt, {callback([&](auto *inputs, auto *) {
                                            seen.push_back(valueOf(inputs[0]));
                                            return Status::ok();
                                          })},
                                          Executable::Effects::Ordered);
  RefPtr<Executable> outer = f.executable(looksFourTimes, {callback([&](auto *inputs, auto *) {
                                            int64_t number = valueOf(inputs[0]);
                                            f.launch(*inner, 10 * number); // not waited for here
                                            return read(f.launch(*inner, 10 * number + 1)) < 0
                                                       ? Status(Code::CallbackFailed, "")
                                                       : Status::ok();
                                          })},
                                          Executable::Effects::Ordered);
  for (int64_t i = 0; i < 5; ++i)
    f.launch(*outer, i);
  CHECK(EffectfulLaunch::waitForAll(nullptr));
  REQUIRE(seen.size() == 40);
  for (int64_t i = 0; i < 40; ++i)
    CHECK(seen[i] == 10 * (i / 8) + i % 2);
}

static void aFailedOneDoesNotStopTheNext() {
  Fixture f;
  std::atomic<int> count{0};
  RefPtr<Executable> executable =
      f.executable(looksAt, {callback([&](auto *inputs, auto *) {
                     ++count;
                     return valueOf(inputs[0]) == 1 ? Status(Code::CallbackFailed, "one") : Status::ok();
                   })},
                   Executable::Effects::Ordered);
  RefPtr<Buffer> first = f.launch(*executable, 1), second = f.launch(*executable, 2);
  CHECK(read(first) == -1 && read(second) == 2 && count == 2);
  CHECK(!EffectfulLaunch::takeFailure()); // its result reports it
}

static void whatNoReadHasToldIsTakenOnce() {
  Fixture f;
  while (EffectfulLaunch::takeUntold())
    continue;
  RefPtr<Executable> executable =
      f.executable(looksAt, {callback([&](auto *, auto *) { return Status(Code::CallbackFailed, "one"); })},
                   Executable::Effects::Ordered);
  RefPtr<Buffer> first = f.launch(*executable, 1), second = f.launch(*executable, 2);
  CHECK(EffectfulLaunch::waitForAll(nullptr));
  CHECK(read(first) == -1 && read(second) == -1);
  EffectfulLaunch::wasTold(*first->error());
  RefPtr<Error> untold = EffectfulLaunch::takeUntold();
  CHECK(untold && untold.get() == second->error());
  CHECK(!EffectfulLaunch::takeUntold() && !EffectfulLaunch::takeFailure());
}

/// A read may raise a failure before the launch is done, and therefore before the failure is recorded.
static void whatIsReadBeforeTheEndIsToldOnce() {
  Fixture f;
  while (EffectfulLaunch::takeUntold())
    continue;
  for (bool isRead : {true, false}) {
    RefPtr<Executable> fails =
        f.executable(looksAt, {callback([&](auto *, auto *) { return Status(Code::CallbackFailed, "two"); })},
                     Executable::Effects::Ordered);
    RefPtr<Buffer> result = f.launch(*fails, 1);
    CHECK(read(result) == -1);
    // At once, whether the launch is done or not.
    if (isRead)
      EffectfulLaunch::wasTold(*result->error());
    CHECK(EffectfulLaunch::waitForAll(nullptr));
    CHECK(!EffectfulLaunch::takeUntold() == isRead);
  }
}

static void aPlaceThatIsNotTakenIsGivenUp() {
  Fixture f;
  RefPtr<Executable> executable =
      f.executable(looksAt, {callback([](auto *, auto *) { return Status::ok(); })}, Executable::Effects::Ordered);
  {
    EffectfulLaunch abandoned(Launch{executable.get(), nullptr, 0, nullptr, 0, nullptr}, Executable::Effects::Ordered);
  }
  CHECK(read(f.launch(*executable, 2)) == 2);
}

int main() {
  RUN(whatItGivesIsAResult);
  RUN(aFailureIsTheLaunchs);
  RUN(aSlotThatIsNotThere);
  RUN(detachedOnesDoNotHoldUpTheCode);
  RUN(aFailureOfADetachedOneIsKept);
  RUN(manyDetachedOnesAreBounded);
  RUN(aCallbackWaitsForCodeThatCallsBack);
  RUN(orderedLaunchesFollowOneAnother);
  RUN(threadsTakeTurns);
  RUN(anOrderedCallbackLaunchesOrderedCode);
  RUN(aFailedOneDoesNotStopTheNext);
  RUN(whatNoReadHasToldIsTakenOnce);
  RUN(whatIsReadBeforeTheEndIsToldOnce);
  RUN(aPlaceThatIsNotTakenIsGivenUp);
  callbacks::shutdown();
  return test::failures() != 0;
}

// Launches on a CPU: in place, as a speculative run, or as a task of the pool.
#include "runtime/CpuStream.h"

#include "runtime/Collective.h"
#include "runtime/Device.h"
#include "runtime/Executable.h"
#include "runtime/Profile.h"
#include "runtime/ThreadPool.h"
#include "streams/Execution.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace pcrt;

/// The approximate cost of handing a task to a worker, awake or asleep: shorter ones run in place.
static constexpr double inPlaceNsAwake = 5000, inPlaceNsAsleep = 20000;
/// A longer run should not keep its thread's lock (Python's).
static constexpr double shortNs = 10000;
/// On one core, handing a task over only adds cost, and a thread that waits for the lock could not run either.
static constexpr double onOneCoreNs = 100000;
/// The operations of compiled code that a speculative run may spend in loops: about inPlaceNsAwake.
static constexpr int64_t loopBudget = 10000;
/// Limits for waiters: a waiter runs the awaited execution itself, or takes part in its loops, only if it is short,
/// because the waiter cannot be interrupted meanwhile.
static constexpr double claimNs = 10e6, shareNs = 100e6;

/// Whether an argument is in a device's memory, so that the launch has to wait for the device.
static bool readsDevice(const Launch &launch) {
  if (launch.executable)
    return false;
  for (unsigned i = 0; i < launch.argCount; ++i)
    if (!launch.args[i]->isHostReadable())
      return true;
  return false;
}

static Status copyAll(const Launch &launch) {
  ProfileScope scope(ProfileKind::Copy, "copy between devices", launch.place);
  for (unsigned i = 0; i < launch.argCount; ++i) {
    const Buffer &from = *launch.args[i];
    void *target = launch.results[i]->data();
    if (from.isHostReadable())
      std::memcpy(target, from.data(), from.size());
    else if (Status status = from.device()->readBuffer(from, target); !status.isOk())
      return status;
  }
  return Status::ok();
}

/// The cost for a waiter to run it. One that may block is left to the pool, except for the part of a launch over
/// processes: it waits only for messages, and these waits call the waiter's hook.
static double costOf(const Launch &launch) {
  bool isPart = launch.participant && static_cast<Participant *>(launch.participant)->run->isAloneHere() &&
                !launch.executable->callback(0);
  return mayBlock(launch) && !isPart ? std::numeric_limits<double>::infinity() : expectedNs(launch);
}

/// Runs a launch whose inputs are ready; null on success.
static RefPtr<Error> perform(Device &device, const Launch &launch) {
  if (Error *poison = poisonOf(launch))
    return RefPtr<Error>(poison);
  return errorOf(launch, launch.executable ? runCode(device, launch, PCRT_UNLIMITED) : copyAll(launch));
}

//===-- CpuExecution
//------------------------------------------------------------------------------------------------===//

namespace pcrt {

class CpuExecution final : public Execution {
public:
  /// Starts once the inputs are ready; the execution owns its initial reference.
  static void start(CpuStream &stream, const Launch &launch) {
    auto *made = create<CpuExecution>(stream, launch);
    for (unsigned i = 0; i < launch.resultCount; ++i)
      launch.results[i]->setToken(RefPtr<Token>(made));
    if (made->waitForInputs())
      made->inputsReady();
  }
  void runTask() override;

private:
  friend class Execution;
  CpuExecution(CpuStream &stream, const Launch &launch)
      : Execution(stream, launch, this + 1), device(stream.device), cost(costOf(launch)) {}
  void inputsReady() override { device.threads().submit(this); }
  bool waitAwake(InterruptHook hook) override;

  Device &device;
  const double cost;
};

} // namespace pcrt

bool CpuExecution::waitAwake(InterruptHook hook) {
  if (!hasInputs() || cost > shareNs)
    return Token::waitAwake(hook);
  ThreadPool &threads = device.threads();
  WaiterScope scope(hook);
  if (cost > claimNs || !threads.runIfQueued(this))
    threads.helpUntil([this] { return isDone(); }, this, spinNs);
  return !scope.isInterrupted();
}

void CpuExecution::runTask() {
  RefPtr<Error> error = perform(device, request);
  endParticipant(request.participant, error.get());
  end(std::move(error));
}

//===-- CpuStream
//---------------------------------------------------------------------------------------------------===//

Stream::LaunchPolicy CpuStream::policyOf(const Launch &launch) const {
  double cost = expectedNs(launch);
  bool blocks = mayBlock(launch) || readsDevice(launch);
  const ThreadPool &threads = device.threads();
  bool hasOneCore = threads.hasOneCore();
  bool keepsLock = !blocks && !(launch.executable && launch.executable->callsForeign());
  LaunchPolicy here =
      cost < (hasOneCore ? onOneCoreNs : shortNs) && keepsLock ? LaunchPolicy::Inline : LaunchPolicy::InlineWithoutGil;
  if (isInPlace())
    return here;
  bool isLong = cost > (hasOneCore ? onOneCoreNs : threads.hasSpinner() ? inPlaceNsAwake : inPlaceNsAsleep);
  bool isSpeculative = std::isinf(cost) && launch.executable->isWorthSpeculating(inPlaceNsAwake);
  if (blocks || (isLong && !isSpeculative) || !isReady(launch))
    return LaunchPolicy::Async;
  return isSpeculative ? LaunchPolicy::Speculative : here;
}

/// After a run in place, the results are done, or carry an error.
static void settle(const Launch &launch, RefPtr<Error> error) {
  if (launch.completes)
    launch.completes->complete(error);
  if (!error)
    return;
  RefPtr<Token> failed = Token::failed(std::move(error));
  for (unsigned i = 0; i < launch.resultCount; ++i)
    launch.results[i]->setToken(failed);
}

void CpuStream::runInPlace(const Launch &launch) { settle(launch, perform(device, launch)); }

bool CpuStream::runSpeculatively(const Launch &launch) {
  if (Error *poison = poisonOf(launch)) {
    settle(launch, RefPtr<Error>(poison));
    return true;
  }
  Status status = runCode(device, launch, loopBudget);
  bool isOver = status.code() != Code::OutOfBudget;
  launch.executable->noteSpeculation(isOver);
  if (isOver)
    settle(launch, errorOf(launch, status));
  return isOver;
}

void CpuStream::start(const Launch &launch) { CpuExecution::start(*this, launch); }

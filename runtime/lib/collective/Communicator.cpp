// Steps of messages, and the wait for them: waiting threads move the messages.
#include "collective/Communicator.h"

#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sched.h>

using namespace pcrt;

static uint64_t hashOf(const std::vector<int64_t> &members, uint64_t purpose) {
  uint64_t hash = 0xcbf29ce484222325 ^ purpose;
  for (int64_t member : members)
    hash = (hash ^ static_cast<uint64_t>(member)) * 0x100000001b3;
  return hash;
}

Communicator::Communicator(SharedLaunch &launch, const std::vector<int64_t> &members, uint64_t purpose)
    : launch(launch), group(hashOf(members, purpose)), numbers(members.size() * (members.size() + 1)) {}

RefPtr<Transfer> Communicator::begin(const std::vector<Piece> &sends, const std::vector<Piece> &receives) {
  auto transfer = RefPtr<Transfer>::adopt(new Transfer());
  auto keyOf = [&](const Piece &piece) {
    return MessageKey{launch.processes, launch.number, group, steps * numbers + piece.number};
  };
  for (const Piece &piece : receives) {
    transfer->add();
    launch.transport.receive(piece.process, launch, keyOf(piece), piece.data, piece.bytes, *transfer);
  }
  for (const Piece &piece : sends) {
    transfer->add();
    launch.transport.send(piece.process, launch, keyOf(piece), piece.data, piece.bytes, *transfer);
  }
  ++steps;
  transfer->arrived();
  return transfer;
}

void LaunchFailure::fail(RefPtr<Error> error) {
  std::vector<std::function<void()>> called;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (hasFailed.load())
      return;
    cause = std::move(error);
    hasFailed.store(true);
    called.swap(hooks);
  }
  for (const std::function<void()> &ends : called)
    ends();
}

RefPtr<Error> LaunchFailure::error() {
  if (!hasFailed.load())
    return nullptr;
  std::lock_guard<std::mutex> guard(lock);
  return cause;
}

void LaunchFailure::whenFailed(std::function<void()> ends) {
  {
    std::lock_guard<std::mutex> guard(lock);
    if (!hasFailed.load()) {
      hooks.push_back(std::move(ends));
      return;
    }
  }
  ends();
}

void SharedLaunch::interrupt() {
  auto error = RefPtr<Error>::adopt(new Error(
      Code::LibraryFailed, "the wait for it was interrupted in process " + std::to_string(transport.rank()), "", ""));
  tell(*error);
}

static void waitNs(int64_t ns) {
  timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

void Transport::waitForChange(uint32_t, int64_t ns) { waitNs(ns); }

namespace {
/// Pauses of a waiting thread between polls of the messages. With a core for each process it spins first. Then it
/// sleeps until the transport notifies a change. If the transport has no notifications, the thread yields, then sleeps
/// for increasing times: a process that waits long uses no core.
class Pauses {
public:
  explicit Pauses(Transport &transport)
      : transport(transport), spinEnd(nowNs() + (transport.maySpin() ? spinNs : 0)), yieldEnd(nowNs() + yieldNs) {}

  void pause(uint32_t seen) {
    int64_t now = nowNs();
    if (now < spinEnd) {
      for (int i = 0; i < 16 && transport.changes() == seen; ++i)
        spinPause();
    } else if (transport.tellsChanges()) {
      transport.waitForChange(seen, longestToldNs);
    } else if (now < yieldEnd) {
      sched_yield();
    } else {
      transport.waitForChange(seen, sleepNs);
      sleepNs = std::min(2 * sleepNs, longestNs);
    }
  }

private:
  static constexpr int64_t spinNs = 50'000, yieldNs = 1'000'000;
  /// Failures are not notified as changes.
  static constexpr int64_t longestNs = 1'000'000, longestToldNs = 10'000'000;
  Transport &transport;
  const int64_t spinEnd, yieldEnd;
  int64_t sleepNs = 10'000;
};
} // namespace

/// The interval at which a waiting thread asks whether it should stop.
static constexpr int64_t askNs = 50'000'000;

/// Of PYCOMPILER_MESSAGE_DELAY, in milliseconds: a slow network, for tests and benchmarks.
static int64_t delayNs() {
  static const int64_t delay = [] {
    const char *text = std::getenv("PYCOMPILER_MESSAGE_DELAY");
    return text ? static_cast<int64_t>(std::strtod(text, nullptr) * 1e6) : 0;
  }();
  return delay;
}

Status Communicator::wait(Transfer &transfer) {
  if (!transfer.isDone())
    launch.transport.progress();
  if (!transfer.isDone()) {
    BlockingScope blocking;
    SharedLaunch::Waiting waiting(launch);
    int64_t asked = nowNs();
    for (Pauses pauses(launch.transport); !transfer.isDone() && !launch.failure();) {
      uint32_t seen = launch.transport.changes();
      if (!launch.transport.progress() && !transfer.isDone())
        pauses.pause(seen);
      if (nowNs() - asked < askNs)
        continue;
      if (WaiterScope::askHook())
        launch.interrupt();
      asked = nowNs();
    }
  }
  if (int64_t delay = delayNs()) {
    BlockingScope blocking;
    waitNs(delay);
  }
  // Also of a transfer that is done: a message that did not match was dropped.
  RefPtr<Error> failed = launch.failure();
  if (!failed)
    return Status::ok();
  if (!transfer.isDone())
    launch.transport.abandon(launch, transfer);
  return Status(failed->code, failed->message);
}

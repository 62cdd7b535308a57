// Shared parts of streams: the work in flight, the bound on run-ahead, and waiting.
#include "runtime/Stream.h"

#include "runtime/BufferPool.h"
#include "runtime/Device.h"
#include "runtime/Executable.h"
#include "runtime/Profile.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <climits>

using namespace pcrt;

/// A launch does not wait for freed blocks of fewer bytes: their pages cost less than a wait.
static constexpr size_t leastAwaited = size_t(64) << 10;
/// The longest wait for a freed block without the end of any execution. New memory costs little beside executions that
/// take longer. Executions may also wait for a thread that waits here. Then twice as many calls get new memory.
static constexpr int freedPatienceMs = 20;

void Stream::enqueue(const Launch &launch) {
  if (Profile::isOn() && !launch.flow) {
    Launch recorded = launch;
    recorded.flow = Profile::newFlow();
    int64_t start = nowNs();
    enqueue(recorded);
    Profile::record(ProfileKind::Enqueue, "enqueue " + (launch.executable ? launch.executable->name() : "copy"), start,
                    nowNs(), launch.callSite(), recorded.flow);
    return;
  }
  start(launch);
}

bool Stream::hasRoom(uint64_t resultBytes) const {
  unsigned inFlight = calls.load(std::memory_order_relaxed);
  if (inFlight == 0 || ThreadPool::isWorker())
    return true;
  return inFlight < bound.calls && bytes.load(std::memory_order_relaxed) + resultBytes <= bound.bytes;
}

void Stream::begun(uint64_t resultBytes) {
  calls.fetch_add(1);
  bytes.fetch_add(resultBytes);
}

void Stream::finished(uint64_t resultBytes) {
  bytes.fetch_sub(resultBytes);
  calls.fetch_sub(1);
  progress.fetch_add(1);
  if (waiters.load() != 0)
    futexWake(progress, INT_MAX);
}

/// `patienceMs`: the limit without progress; negative: none.
template <typename Condition> bool Stream::waitUntil(Condition condition, InterruptHook hook, int patienceMs) {
  BlockingScope blocking;
  waiters.fetch_add(1);
  bool met;
  while (true) {
    uint32_t seen = progress.load();
    met = condition();
    if (met)
      break;
    futexWait(progress, seen, hook ? 100 : patienceMs);
    if (hook && hook())
      break;
    if (patienceMs >= 0 && progress.load() == seen)
      break;
  }
  waiters.fetch_sub(1);
  return met;
}

bool Stream::waitForRoom(uint64_t resultBytes, InterruptHook hook) {
  return waitUntil([&] { return hasRoom(resultBytes); }, hook);
}

bool Stream::isFarAhead() const {
  if (bytes.load(std::memory_order_relaxed) <= bound.bytesInNewMemory)
    return false;
  unsigned many = std::max(bound.callsInNewMemory, 2 * device.threads().size());
  return calls.load(std::memory_order_relaxed) >= many && !ThreadPool::isWorker();
}

bool Stream::lacksFreed(size_t resultBytes) const {
  if (resultBytes < leastAwaited || !isFarAhead() || device.memory().hasFreed(resultBytes))
    return false;
  uint64_t known = stall.load();
  return known >> 32 != progress.load() || calls.load() >= static_cast<uint32_t>(known);
}

void Stream::waitForFreed(size_t resultBytes) {
  if (lacksFreed(resultBytes) && !waitUntil([&] { return !lacksFreed(resultBytes); }, nullptr, freedPatienceMs))
    stall.store(uint64_t(progress.load()) << 32 | 2 * calls.load());
}

bool Stream::synchronize(InterruptHook hook) {
  return waitUntil([&] { return calls.load() == 0; }, hook);
}

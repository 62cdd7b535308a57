// Shared parts of streams: the work in flight, the bound on run-ahead, and waiting.
#include "runtime/Stream.h"

#include "runtime/Executable.h"
#include "runtime/Profile.h"
#include "runtime/ThreadPool.h"

#include <climits>

using namespace pcrt;

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
  if (waiters.load() == 0)
    return;
  progress.fetch_add(1);
  futexWake(progress, INT_MAX);
}

template <typename Condition> bool Stream::waitUntil(Condition condition, InterruptHook hook) {
  BlockingScope blocking;
  waiters.fetch_add(1);
  bool met;
  while (true) {
    uint32_t seen = progress.load();
    met = condition();
    if (met)
      break;
    futexWait(progress, seen, hook ? 100 : -1);
    if (hook && hook())
      break;
  }
  waiters.fetch_sub(1);
  return met;
}

bool Stream::waitForRoom(uint64_t resultBytes, InterruptHook hook) {
  return waitUntil([&] { return hasRoom(resultBytes); }, hook);
}

bool Stream::synchronize(InterruptHook hook) {
  return waitUntil([&] { return calls.load() == 0; }, hook);
}

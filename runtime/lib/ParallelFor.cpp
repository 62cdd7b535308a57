// Loops that threads share. The thread that comes to the loop works on it until no piece is left; threads of the pool
// that have nothing else to do take places in its group. So a loop never waits for a thread to become free, and cannot
// deadlock; at its end it waits for the pieces that others have begun, and those are small.
#include "LibraryCalls.h"
#include "runtime/Device.h"
#include "runtime/RunContext.h"

#include <algorithm>
#include <climits>

using namespace pcrt;

/// The first pieces are large, the last ones small: each is what is left divided by this for each thread.
static constexpr int64_t piecesPerThread = 4;
/// How long the loop's own thread spins for the others at the end, before it sleeps.
static constexpr int64_t tailSpinNs = 50000;

/// The thread is inside of a loop: the loops inside of that one are its own.
static thread_local bool isInLoop = false;

namespace pcrt {

/// One loop; on the stack of the thread that came to it.
class ParallelGroup {
public:
  ParallelGroup(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count, int64_t grain,
                unsigned places)
      : places(places), frame(frame), body(body), captured(captured), count(count), grain(grain) {}

  /// Works until no piece is left; called by every thread of the group.
  void work();
  /// A worker left the group: it must not touch it any more.
  void leave();
  /// Waits until all have left.
  void waitForOthers();

  int32_t status() const { return firstStatus; }

  /// Under the pool's lock: the next group, the places that are left, and the workers in it (twice their number, plus
  /// one when the loop's own thread sleeps).
  ParallelGroup *next = nullptr;
  unsigned places;
  FutexWord workers{0};

private:
  bool take(int64_t &low, int64_t &high);
  void fail(int64_t low, int32_t status);

  const PcrtFrame *const frame;
  const PcrtLoopBody body;
  const void *const captured;
  const int64_t count, grain;
  const int64_t sharers = places + 1;
  std::atomic<int64_t> position{0};
  std::mutex failureLock;
  int64_t firstFailure = INT64_MAX;
  int32_t firstStatus = PCRT_OK;
};

} // namespace pcrt

bool ParallelGroup::take(int64_t &low, int64_t &high) {
  low = position.load(std::memory_order_relaxed);
  do {
    if (low >= count)
      return false;
    int64_t size = std::max(grain, (count - low) / (piecesPerThread * sharers));
    // A last piece below the grain goes with the one before it.
    high = count - low < size + grain ? count : low + size;
  } while (!position.compare_exchange_weak(low, high, std::memory_order_relaxed));
  return true;
}

void ParallelGroup::work() {
  isInLoop = true;
  int64_t low, high;
  while (take(low, high)) {
    if (int32_t status = body(frame, captured, low, high)) {
      fail(low, status);
      break;
    }
  }
  isInLoop = false;
}

/// What comes later in the loop is not begun any more. What comes before has begun, so the first failure is found
/// whatever the threads do.
void ParallelGroup::fail(int64_t low, int32_t status) {
  position.store(count, std::memory_order_relaxed);
  std::lock_guard<std::mutex> guard(failureLock);
  if (low < firstFailure) {
    firstFailure = low;
    firstStatus = status;
  }
}

void ParallelGroup::leave() {
  // The group may be gone after the subtraction; to wake nobody at its address does no harm.
  FutexWord &word = workers;
  if (word.fetch_sub(2, std::memory_order_acq_rel) == 3)
    futexWake(word, 1);
}

void ParallelGroup::waitForOthers() {
  for (int64_t end = nowNs() + tailSpinNs; workers.load(std::memory_order_acquire) != 0;) {
    for (int i = 0; i < 32; ++i)
      spinPause();
    if (nowNs() < end)
      continue;
    for (uint32_t seen = workers.fetch_or(1, std::memory_order_acq_rel) | 1; seen != 1;
         seen = workers.load(std::memory_order_acquire))
      futexWait(workers, seen);
    return;
  }
}

//===-- The pool's part
//---------------------------------------------------------------------------------------------===//

void ThreadPool::open(ParallelGroup &group, bool isOutside) {
  {
    std::lock_guard<std::mutex> guard(queueLock);
    group.next = groups;
    groups = &group;
    if (isOutside)
      busy.fetch_add(1);
    openPlaces.fetch_add(group.places);
  }
  provideThread();
}

void ThreadPool::close(ParallelGroup &group, bool isOutside) {
  bool hasOthers;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    ParallelGroup **link = &groups;
    while (*link != &group)
      link = &(*link)->next;
    *link = group.next;
    hasOthers = openPlaces.fetch_sub(group.places) != group.places;
    if (isOutside)
      busy.fetch_sub(1);
  }
  // A worker that was one too many may help others now.
  if (isOutside && hasOthers)
    provideThread();
}

/// Takes a place in a group, if there is one for this worker; returns when the group has no piece left.
bool ThreadPool::helpGroup() {
  if (openPlaces.load() == 0 || idleShare() == 0)
    return false;
  ParallelGroup *group;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    group = groups;
    while (group && group->places == 0)
      group = group->next;
    if (!group || idleShare() == 0)
      return false;
    --group->places;
    openPlaces.fetch_sub(1);
    busy.fetch_add(1);
    group->workers.fetch_add(2);
  }
  // Whoever opened the group woke one thread only.
  provideThread();
  group->work();
  busy.fetch_sub(1);
  group->leave();
  return true;
}

int32_t ThreadPool::parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                                int64_t grain) {
  if (count <= 0)
    return PCRT_OK;
  grain = std::max<int64_t>(grain, 1);
  int64_t pieces = count / grain;
  if (pieces <= 1 || maxThreads == 1 || isInLoop || stopping.load())
    return body(frame, captured, 0, count);
  bool isOutside = currentPool != this;
  ParallelGroup group(frame, body, captured, count, grain,
                      static_cast<unsigned>(std::min<int64_t>(maxThreads - 1, pieces - 1)));
  open(group, isOutside);
  group.work();
  close(group, isOutside);
  group.waitForOthers();
  return group.status();
}

int32_t library::parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                             int64_t grain) {
  if (!frame || !frame->context)
    return body(frame, captured, 0, count);
  Device &device = RunContext::of(frame).device;
  if (device.stream().isInPlace())
    return body(frame, captured, 0, count);
  return device.threads().parallelFor(frame, body, captured, count, grain);
}

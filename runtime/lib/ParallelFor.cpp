// Loops that threads share. The thread that comes to the loop works on it until no piece is left; threads of the pool
// that have nothing else to do take places in its group. So a loop never waits for a thread to become free, and cannot
// deadlock; at its end it waits for the pieces that others have begun, and those are small.
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <climits>

using namespace pcrt;

/// The first pieces are large, the last ones small: each is what is left divided by this for each thread.
static constexpr int64_t piecesPerThread = 4;
/// How long the loop's own thread spins for the others at the end, before it sleeps.
static constexpr int64_t tailSpinNs = 50000;

/// The thread is inside of a loop: the loops inside of that one are its own.
static thread_local bool inLoop = false;

namespace pcrt {

/// One loop; on the stack of the thread that came to it.
class ParallelGroup {
public:
  ParallelGroup(const Task *task, const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                int64_t grain, unsigned places)
      : places(places), task(task), frame(frame), body(body), captured(captured), count(count), grain(grain) {}

  /// Works until no piece is left; called by every thread of the group.
  void work();
  /// A worker left the group: it must not touch it any more.
  void leave();
  /// Waits until all have left.
  void waitForOthers();

  int32_t status() const { return firstStatus; }

  /// Takes a place for a worker, or for one that waits for `waitsFor`: of a loop of that task alone, as it must not be
  /// kept by another, but whether or not a place is left, as that thread has a core already, and the worker that was
  /// woken in its stead may have to share one. Under the pool's lock; false when there is none.
  bool enter(const Task *waitsFor, std::atomic<unsigned> &openPlaces);

  /// Under the pool's lock: the next group, the places that are left, whether one that waited took part, and the
  /// workers in it (twice their number, plus one when the loop's own thread sleeps).
  ParallelGroup *next = nullptr;
  unsigned places;
  bool hadWaiter = false;
  FutexWord workers{0};

private:
  bool take(int64_t &low, int64_t &high);
  void fail(int64_t low, int32_t status);

  /// In which the loop is; null when it is in none.
  const Task *const task;
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

bool ParallelGroup::enter(const Task *waitsFor, std::atomic<unsigned> &openPlaces) {
  if (waitsFor ? task != waitsFor || hadWaiter : places == 0)
    return false;
  hadWaiter |= waitsFor != nullptr;
  if (places != 0) {
    --places;
    openPlaces.fetch_sub(1);
  }
  workers.fetch_add(2);
  return true;
}

void ParallelGroup::work() {
  inLoop = true;
  int64_t low, high;
  while (take(low, high)) {
    if (int32_t status = body(frame, captured, low, high)) {
      fail(low, status);
      break;
    }
  }
  inLoop = false;
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
  if (spinUntil([this] { return workers.load(std::memory_order_acquire) == 0; }, tailSpinNs))
    return;
  for (uint32_t seen = workers.fetch_or(1, std::memory_order_acq_rel) | 1; seen != 1;
       seen = workers.load(std::memory_order_acquire))
    futexWait(workers, seen);
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
    loops.fetch_add(1);
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
    loops.fetch_sub(1);
    hasOthers = openPlaces.fetch_sub(group.places) != group.places;
    if (isOutside)
      busy.fetch_sub(1);
  }
  // A worker that was one too many may help others now.
  if (isOutside && hasOthers)
    provideThread();
}

bool ThreadPool::isInLoop() { return inLoop; }

/// Takes a place in a group, if there is one for this thread, which counted as `idle`; returns when the group has no
/// piece left. A thread that is no worker says for which task it waits.
bool ThreadPool::helpGroup(std::atomic<unsigned> &idle, const Task *waitsFor) {
  auto mayBeOpen = [&] { return waitsFor ? loops.load() != 0 : openPlaces.load() != 0 && idleShare() != 0; };
  if (!mayBeOpen())
    return false;
  ParallelGroup *group;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    group = groups;
    if (!mayBeOpen())
      return false;
    while (group && !group->enter(waitsFor, openPlaces))
      group = group->next;
    if (!group)
      return false;
  }
  setToWork(idle);
  group->work();
  setIdle(idle);
  group->leave();
  return true;
}

int32_t ThreadPool::parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                                int64_t grain) {
  if (count <= 0)
    return PCRT_OK;
  grain = std::max<int64_t>(grain, 1);
  int64_t pieces = count / grain;
  if (pieces <= 1 || maxThreads == 1 || inLoop || stopping.load())
    return body(frame, captured, 0, count);
  bool isOutside = currentPool != this;
  ParallelGroup group(currentTask, frame, body, captured, count, grain,
                      static_cast<unsigned>(std::min<int64_t>(maxThreads - 1, pieces - 1)));
  open(group, isOutside);
  group.work();
  close(group, isOutside);
  group.waitForOthers();
  return group.status();
}

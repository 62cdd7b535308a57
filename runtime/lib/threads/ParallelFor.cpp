// Loops that threads share. The thread that calls the loop works on it until no piece is left, and idle threads of the
// pool join. So a loop never waits for a thread to become free, and cannot deadlock. At its end it waits for the pieces
// that others have begun, and those are small.
//
// Each thread has a range of the iterations, and takes pieces of other ranges when its own is done. A thread keeps the
// number of its range from loop to loop, so that the loops of a time step find their data in the thread's own cache.
#include "runtime/ParallelFor.h"

#include "runtime/ThreadPool.h"

#include <algorithm>
#include <climits>

using namespace pcrt;

/// The first pieces are large, the last ones small: each is the remaining iterations of a range, divided by this.
static constexpr int64_t piecesOfRange = 4;
/// The maximum number of ranges; more threads share them.
static constexpr unsigned mostRanges = 64;
/// The minimum number of pieces, each of several iterations, for which a thread is woken: that takes as long as two.
static constexpr int64_t leastPieces = 16;
/// The number of small loops of a thread that ran alone, after which it wakes another one for the loops that follow.
static constexpr unsigned loopsBeforeWakeUp = 8;
/// The time for which the loop's own thread spins for the others at the end, before it sleeps.
static constexpr int64_t tailSpinNs = 50000;

/// The maximum number of threads for loops of this thread.
static thread_local unsigned threadLimit = UINT_MAX;

ThreadLimit::ThreadLimit(unsigned count) : before(threadLimit) { threadLimit = std::max(count, 1U); }

ThreadLimit::~ThreadLimit() { threadLimit = before; }

namespace {

/// One loop, on the stack of the calling thread.
class ParallelLoop final : public SharedWork {
public:
  ParallelLoop(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count, int64_t grain,
               unsigned places)
      : SharedWork(places), frame(frame), body(body), captured(captured), count(count), grain(grain),
        ranges(std::min(places + 1, mostRanges)) {
    for (unsigned i = 0; i < ranges; ++i) {
      range[i].position.store(count * i / ranges, std::memory_order_relaxed);
      range[i].end = count * (i + 1) / ranges;
    }
  }

  void work() override;
  /// Waits until all others have left.
  void waitForOthers();

  int32_t status() const { return firstStatus; }

private:
  void entered() override { workers.fetch_add(2); }
  void left() override;
  unsigned claimRange();
  bool take(unsigned number, int64_t &low, int64_t &high);
  void fail(int64_t low, int32_t status);

  const PcrtFrame *const frame;
  const PcrtLoopBody body;
  const void *const captured;
  const int64_t count, grain;
  const unsigned ranges;
  /// Twice the number of workers in it, plus one when the loop's own thread sleeps.
  FutexWord workers{0};
  /// The ranges that threads have claimed, by bits.
  std::atomic<uint64_t> claimed{0};
  std::mutex failureLock;
  std::atomic<int64_t> firstFailure{INT64_MAX};
  int32_t firstStatus = PCRT_OK;

  /// The iterations from `position` are not begun.
  struct alignas(64) Range {
    std::atomic<int64_t> position;
    int64_t end;
  };
  Range range[mostRanges];
};

} // namespace

/// The number of the calling thread's range: that of its last loop, if no other thread has it.
unsigned ParallelLoop::claimRange() {
  static thread_local unsigned last = 0;
  for (unsigned i = 0; i < ranges; ++i) {
    unsigned number = (last + i) % ranges;
    uint64_t bit = uint64_t(1) << number;
    if (!(claimed.fetch_or(bit, std::memory_order_relaxed) & bit))
      return last = number;
  }
  return last % ranges;
}

/// Takes a piece of a range; false if none is left. After a failure only pieces before it are begun.
bool ParallelLoop::take(unsigned number, int64_t &low, int64_t &high) {
  auto &[position, end] = range[number];
  low = position.load(std::memory_order_relaxed);
  do {
    if (low >= end || low >= firstFailure.load(std::memory_order_relaxed))
      return false;
    int64_t size = std::max(grain, (end - low) / piecesOfRange);
    // A last piece below the grain joins the one before it.
    high = end - low < size + grain ? end : low + size;
  } while (!position.compare_exchange_weak(low, high, std::memory_order_relaxed));
  return true;
}

void ParallelLoop::work() {
  const unsigned first = claimRange();
  int64_t low, high;
  for (unsigned i = 0; i < ranges; ++i)
    while (take((first + i) % ranges, low, high))
      if (int32_t status = body(frame, captured, low, high))
        fail(low, status);
}

/// Pieces before it have begun, or are begun yet, so the first failure is found for any timing of the threads.
void ParallelLoop::fail(int64_t low, int32_t status) {
  std::lock_guard<std::mutex> guard(failureLock);
  if (low < firstFailure.load(std::memory_order_relaxed)) {
    firstFailure.store(low, std::memory_order_relaxed);
    firstStatus = status;
  }
}

void ParallelLoop::left() {
  // The loop may be destroyed after the subtraction; a wake-up at its address is harmless.
  FutexWord &word = workers;
  if (word.fetch_sub(2, std::memory_order_acq_rel) == 3)
    futexWake(word, 1);
}

void ParallelLoop::waitForOthers() {
  if (spinUntil([this] { return workers.load(std::memory_order_acquire) == 0; }, tailSpinNs))
    return;
  for (uint32_t seen = workers.fetch_or(1, std::memory_order_acq_rel) | 1; seen != 1;
       seen = workers.load(std::memory_order_acquire))
    futexWait(workers, seen);
}

int64_t pcrt::threadsOfLoops(const ThreadPool &pool) {
  return pool.mayShare() ? std::max<int64_t>(std::min(pool.size(), threadLimit), 1) : 1;
}

int32_t pcrt::parallelFor(ThreadPool &pool, const PcrtFrame *frame, PcrtLoopBody body, const void *captured,
                          int64_t count, int64_t grain) {
  if (count <= 0)
    return PCRT_OK;
  grain = std::max<int64_t>(grain, 1);
  int64_t pieces = count / grain;
  bool isSmall = grain > 1 && pieces < leastPieces;
  int64_t threads = threadsOfLoops(pool);
  if (pieces <= 1 || threads == 1)
    return body(frame, captured, 0, count);
  if (isSmall && !pool.hasHelper()) {
    // One loop does not pay for the time of a wake-up. After several, more are likely to follow.
    static thread_local unsigned alone = 0;
    if (++alone % loopsBeforeWakeUp == 0)
      pool.wakeHelper();
    return body(frame, captured, 0, count);
  }
  ParallelLoop loop(frame, body, captured, count, grain, static_cast<unsigned>(std::min(threads, pieces) - 1));
  pool.share(loop);
  loop.waitForOthers();
  return loop.status();
}

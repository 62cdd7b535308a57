// The threads that run executions: one shared queue, threads started when first needed, and work that several of them
// share. Before it: Futex; after it: ParallelFor, whose loops are such work, Stream, which submits executions, and
// Token, whose waiters tell the pool when they block one of its threads.
#ifndef PYCOMPILER_RUNTIME_THREADPOOL_H
#define PYCOMPILER_RUNTIME_THREADPOOL_H

#include "runtime/Futex.h"
#include "runtime/SleepingThreads.h"

#include <mutex>

namespace pcrt {

/// Something to run once. The queue links tasks through `next`, and `link` is what points at a task in it, null when it
/// is in none; `runTask` may delete the task.
class Task {
public:
  virtual void runTask() = 0;

protected:
  ~Task() = default;

private:
  friend class ThreadPool;
  Task *next = nullptr, **link = nullptr;
};

/// Work that threads of a pool take part in, beside the thread that brought it: a loop, say. The pool knows how many
/// may come and sends those that have nothing else to do; the work itself says when nothing is left.
class SharedWork {
public:
  SharedWork(const SharedWork &) = delete;
  SharedWork &operator=(const SharedWork &) = delete;

  /// Works until nothing is left; called by every thread that takes part.
  virtual void work() = 0;

protected:
  /// For at most `places` workers.
  explicit SharedWork(unsigned places) : places(places) {}
  ~SharedWork() = default;
  /// A thread takes part from now on (under the pool's lock); it has left, and does not touch the work any more.
  virtual void entered() = 0;
  virtual void left() = 0;

private:
  friend class ThreadPool;
  /// Under the pool's lock: the next work, the places that are left, the task in which it is (null: in none), and
  /// whether a thread that waits for that took part.
  SharedWork *next = nullptr;
  unsigned places;
  const Task *task = nullptr;
  bool hadWaiter = false;
};

class ThreadPool {
public:
  /// At most `maxThreads` threads run tasks (more exist while some of them block in BlockingScope).
  explicit ThreadPool(unsigned maxThreads);
  /// As on a machine with so many cores for the process.
  ThreadPool(unsigned maxThreads, unsigned cores);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool() { shutdown(); }

  /// Runs `task` on some thread, later; when called by a worker, after the task that it is at the end of. After
  /// shutdown: here.
  void submit(Task *task);

  /// For a thread that waits for `task`, which may be gone from the queue: runs it here if no thread has begun to.
  bool runIfQueued(Task *task);

  /// For a thread that waits for `task`, which another runs: takes part in the work that it shares until `isOver`, or
  /// until there was none for `patienceNs` (longer after the first: the task is soon done). Meanwhile no worker is
  /// woken for a place that this thread is about to take.
  template <typename Predicate> void helpUntil(Predicate isOver, const Task *task, int64_t patienceNs) {
    if (isSharing())
      return;
    waiters.fetch_add(1);
    auto goesOn = [&] { return isOver() || sharedCount.load() != 0; };
    for (int64_t end = nowNs() + patienceNs; spinUntil(goesOn, end - nowNs()) && !isOver();)
      if (help(waiters, task))
        end = nowNs() + afterHelpNs;
      else
        spinUntil(isOver, patienceNs / 16); // what is open is not for this thread: leave the lock to others
    waiters.fetch_sub(1);
    if (openPlaces.load() != 0)
      provideThread();
  }

  /// Works on `work` in this thread and in those of the pool that have nothing to do; when it returns, nothing is left
  /// to begin, but others may still be at it. Only where `mayShare`.
  void share(SharedWork &work);
  /// Not within such work, with one thread, or after shutdown.
  bool mayShare() const { return maxThreads > 1 && !isSharing() && !stopping.load(); }

  /// Ends the threads once the queue is empty, and waits for them.
  void shutdown();

  /// After shutdown, when what is submitted runs at once in the thread that submits it.
  bool isStopped() const { return stopping.load(); }
  unsigned size() const { return maxThreads; }
  /// Threads that exist, but for those in reserve; for tests.
  unsigned liveThreads() const { return threads.load(std::memory_order_relaxed); }
  /// The threads have no core but the one of who submits: nothing runs beside anything.
  bool hasOneCore() const { return cores == 1; }
  /// A worker is awake and looks for work, so handing it a task costs little.
  bool hasSpinner() const { return looking.load(std::memory_order_relaxed) != 0; }
  /// The calling thread is one of a pool's.
  static bool isWorker();

  /// Around fork(): the child has none of the threads; its queue keeps what had not started.
  void beforeFork() { queueLock.lock(); }
  void afterForkInParent() { queueLock.unlock(); }
  void afterForkInChild();

  /// Threads to use: PYCOMPILER_NUM_THREADS, else the cores that affinity and the cgroup's quota leave.
  static unsigned defaultSize();

private:
  /// About as long as the last piece of shared work takes. Who slept instead would come to its next call when the
  /// workers have gone to sleep.
  static constexpr int64_t afterHelpNs = 100000;

  friend class BlockingScope;
  static thread_local ThreadPool *currentPool;
  static thread_local const Task *currentTask;
  static void *threadMain(void *pool);
  void workerLoop();
  void run(Task *task);
  Task *pop();
  void unlink(Task *task);
  bool sleepForWork();
  void provideThread();
  bool startThread();
  void blockedChanged(int change);
  bool hasWork() const;
  unsigned idleShare() const;
  static bool isSharing();
  bool help(std::atomic<unsigned> &idle, const Task *waitsFor = nullptr);
  bool enter(SharedWork &work, const Task *waitsFor);
  void setToWork(std::atomic<unsigned> &idle);
  void setIdle(std::atomic<unsigned> &idle);
  void open(SharedWork &work, bool isOutside);
  void close(SharedWork &work, bool isOutside);

  const unsigned maxThreads, cores;
  std::mutex queueLock;
  Task *head = nullptr, **tail = &head;
  SharedWork *shared = nullptr;
  /// Tasks in the queue, and workers that look for work, or were woken to. Sequentially consistent: submit raises
  /// `queued` and then looks at the workers, a worker lowers `looking` and then looks at `queued`, so one of the two
  /// sees the other.
  std::atomic<unsigned> queued{0}, looking{0};
  /// Threads that wait for a task, and take places in the work that it shares.
  std::atomic<unsigned> waiters{0};
  std::atomic<unsigned> threads{0}, blocked{0};
  /// How much work is shared, places in it that a worker may take, and threads at work: workers, and others that share
  /// theirs. A worker takes a place only while fewer threads are at work than the pool has.
  std::atomic<unsigned> sharedCount{0}, openPlaces{0};
  std::atomic<int> busy{0};
  std::atomic<uint32_t> startedThreads{0};
  FutexWord exited{0};
  std::atomic<bool> stopping{false};
  SleepingThreads sleepers{UINT_MAX};
  /// Threads that the pool has too many of for now: participants of a run wait for each other again and again, and each
  /// time the pool needs as many threads more.
  SleepingThreads reserve{64};
};

/// Within it the thread may sleep for long: if it is a worker, the pool may run one thread more.
class BlockingScope {
public:
  BlockingScope();
  ~BlockingScope();
  BlockingScope(const BlockingScope &) = delete;
  BlockingScope &operator=(const BlockingScope &) = delete;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_THREADPOOL_H

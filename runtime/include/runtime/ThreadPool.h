// The threads of executions: one shared queue, threads that start on demand, and work that several of them share.
// Before it: Futex. After it: ParallelFor, whose loops are shared work, Stream, which submits executions, and Token,
// whose waiters notify the pool when they block one of its threads.
#ifndef PYCOMPILER_RUNTIME_THREADPOOL_H
#define PYCOMPILER_RUNTIME_THREADPOOL_H

#include "runtime/Futex.h"
#include "runtime/SleepingThreads.h"

#include <mutex>

namespace pcrt {

/// A piece of work that runs once. The queue links tasks through `next`. `link` points to the pointer to the task in
/// its queue, and is null outside of a queue; `runTask` may delete the task.
class Task {
public:
  virtual void runTask() = 0;

protected:
  ~Task() = default;

private:
  friend class ThreadPool;
  Task *next = nullptr, **link = nullptr;
};

/// Work that threads of a pool share with the submitting thread, for example a loop. The pool limits the number of
/// threads and assigns idle ones. The work itself reports when nothing is left.
class SharedWork {
public:
  SharedWork(const SharedWork &) = delete;
  SharedWork &operator=(const SharedWork &) = delete;

  /// Works until nothing is left; every participating thread calls it.
  virtual void work() = 0;

protected:
  /// For at most `places` workers.
  explicit SharedWork(unsigned places) : places(places) {}
  ~SharedWork() = default;
  /// Called when a thread starts to take part (under the pool's lock); and when it has left, and does not touch the
  /// work any more.
  virtual void entered() = 0;
  virtual void left() = 0;

private:
  friend class ThreadPool;
  /// Under the pool's lock: the next work, the free places, the task that shares it (null: none), and whether a thread
  /// that waits for that task took part.
  SharedWork *next = nullptr;
  unsigned places;
  const Task *task = nullptr;
  bool hadWaiter = false;
};

class ThreadPool {
public:
  /// At most `maxThreads` threads run tasks (more exist while some of them block in BlockingScope).
  explicit ThreadPool(unsigned maxThreads);
  /// As on a machine with this many cores for the process.
  ThreadPool(unsigned maxThreads, unsigned cores);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool() { shutdown(); }

  /// Runs `task` on some thread, later; if a worker calls it, after the task that the worker is finishing. After
  /// shutdown: here.
  void submit(Task *task);

  /// For a thread that waits for `task`, which may have left the queue: runs it here if no thread has started it.
  bool runIfQueued(Task *task);

  /// For a thread that waits for `task`, which another thread runs: takes part in its shared work until `isOver`, or
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
        spinUntil(isOver, patienceNs / 16); // the open places are not for this thread: leave the lock to others
    waiters.fetch_sub(1);
    if (openPlaces.load() != 0)
      provideThread();
  }

  /// Works on `work` in this thread and in idle threads of the pool. On return nothing is left to start, but other
  /// threads may still be working. Only if `mayShare`.
  void share(SharedWork &work);
  /// False within such work, with one thread, or after shutdown.
  bool mayShare() const { return maxThreads > 1 && !isSharing() && !stopping.load(); }

  /// Ends the threads once the queue is empty, and waits for them.
  void shutdown();

  /// Whether the pool is shut down: submitted tasks then run at once in the submitting thread.
  bool isStopped() const { return stopping.load(); }
  unsigned size() const { return maxThreads; }
  /// The number of threads, without those in reserve; for tests.
  unsigned liveThreads() const { return threads.load(std::memory_order_relaxed); }
  /// Whether the threads share the only core with the submitting thread, so that nothing runs in parallel.
  bool hasOneCore() const { return cores == 1; }
  /// Whether a worker is awake and looks for work, so that handing it a task costs little.
  bool hasSpinner() const { return looking.load(std::memory_order_relaxed) != 0; }
  /// The same, or a thread waits for a task, and would take part in its shared work.
  bool hasHelper() const { return hasSpinner() || waiters.load(std::memory_order_relaxed) != 0; }
  /// Wakes a thread that looks for work for a moment, if none is awake and one may work. Costs a microsecond or two.
  void wakeHelper();
  /// Whether the calling thread belongs to a pool.
  static bool isWorker();

  /// Around fork(): the child has none of the threads; its queue keeps the tasks that had not started.
  void beforeFork() { queueLock.lock(); }
  void afterForkInParent() { queueLock.unlock(); }
  void afterForkInChild();

  /// The number of threads: PYCOMPILER_NUM_THREADS, else the cores that affinity and the cgroup's quota leave.
  static unsigned defaultSize();

private:
  /// About the time of the last piece of shared work. If the thread slept instead, the workers would be asleep by its
  /// next call.
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
  /// Tasks in the queue, and workers that look for work, or are being woken. Sequentially consistent: submit increments
  /// `queued` and then reads `looking`; a worker decrements `looking` and then reads `queued`, so one of the two sees
  /// the other.
  std::atomic<unsigned> queued{0}, looking{0};
  /// Threads that wait for a task, and take places in its shared work.
  std::atomic<unsigned> waiters{0};
  std::atomic<unsigned> threads{0}, blocked{0};
  /// The number of shared works, the places in them that a worker may take, and the number of working threads: workers,
  /// and other threads that share their work. A worker takes a place only while fewer threads work than the pool has.
  std::atomic<unsigned> sharedCount{0}, openPlaces{0};
  std::atomic<int> busy{0};
  std::atomic<uint32_t> startedThreads{0};
  FutexWord exited{0};
  std::atomic<bool> stopping{false};
  SleepingThreads sleepers{UINT_MAX};
  /// Threads that the pool does not need now: participants of a run repeatedly wait for each other, and each time the
  /// pool needs that many more threads.
  SleepingThreads reserve{64};
};

/// In its scope the thread may sleep for long: if it is a worker, the pool may run another thread.
class BlockingScope {
public:
  BlockingScope();
  ~BlockingScope();
  BlockingScope(const BlockingScope &) = delete;
  BlockingScope &operator=(const BlockingScope &) = delete;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_THREADPOOL_H

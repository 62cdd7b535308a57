// The thread pool. Workers spin for a moment before they sleep, because waking one costs more than most tasks.
#include "runtime/ThreadPool.h"

#include "CpuLimits.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <signal.h>

using namespace pcrt;

static constexpr int64_t spinNs = 20000;

thread_local ThreadPool *ThreadPool::currentPool = nullptr;

bool ThreadPool::isWorker() { return currentPool != nullptr; }

//===-- How many threads
//--------------------------------------------------------------------------------------------===//

unsigned ThreadPool::defaultSize() {
  if (const char *text = std::getenv("PYCOMPILER_NUM_THREADS")) {
    char *end;
    long count = std::strtol(text, &end, 10);
    if (*text && !*end && count >= 1)
      return static_cast<unsigned>(std::min(count, 1024L));
    std::fprintf(stderr, "pycompiler: PYCOMPILER_NUM_THREADS=%s is not a number of threads: ignored\n", text);
  }
  return availableCores();
}

//===-- Queue
//-------------------------------------------------------------------------------------------------------===//

// With a single core, spinning would only keep the program from going on.
ThreadPool::ThreadPool(unsigned maxThreads) : ThreadPool(maxThreads, affinityCores()) {}

ThreadPool::ThreadPool(unsigned maxThreads, unsigned cores) : maxThreads(maxThreads), cores(cores) {}

void ThreadPool::submit(Task *task) {
  if (stopping.load() && currentPool != this) {
    task->runTask();
    return;
  }
  task->next = nullptr;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    *tail = task;
    tail = &task->next;
    queued.fetch_add(1);
  }
  // A worker that submits is at the end of a task and takes this one next: waking another would only move its data.
  if (currentPool != this)
    provideThread();
}

Task *ThreadPool::pop() {
  if (queued.load() == 0)
    return nullptr;
  std::lock_guard<std::mutex> guard(queueLock);
  Task *task = head;
  if (!task)
    return nullptr;
  head = task->next;
  if (!head)
    tail = &head;
  queued.fetch_sub(1);
  return task;
}

/// How many threads more may be at work.
unsigned ThreadPool::idleShare() const {
  int working = busy.load();
  return working < static_cast<int>(maxThreads) ? maxThreads - static_cast<unsigned>(std::max(working, 0)) : 0;
}

/// Whether there is something for one thread more.
bool ThreadPool::hasWork() const { return queued.load() != 0 || (openPlaces.load() != 0 && idleShare() != 0); }

/// Sees to it that some thread takes what is in the queue or helps with a loop, if one may.
void ThreadPool::provideThread() {
  unsigned waiting = queued.load() + std::min(openPlaces.load(), idleShare());
  if (waiting == 0 || spinning.load() >= waiting)
    return;
  if (sleeping.load()) {
    epoch.fetch_add(1);
    futexWake(epoch, 1);
    return;
  }
  startThread();
}

//===-- Threads
//-----------------------------------------------------------------------------------------------------===//

bool ThreadPool::startThread() {
  unsigned count = threads.load();
  do {
    if (count >= maxThreads + blocked.load())
      return false;
  } while (!threads.compare_exchange_weak(count, count + 1));
  if (reserve.take())
    return true;
  startedThreads.fetch_add(1);
  // Signals are for the threads of the program: a worker that got one would leave the interrupted wait asleep.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  bool started = pthread_create(&thread, &attributes, threadMain, this) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) {
    startedThreads.fetch_sub(1);
    threads.fetch_sub(1);
    // With no thread at all nothing would ever run: work in place from now on.
    if (count == 0) {
      stopping.store(true);
      while (Task *task = pop())
        task->runTask();
    }
  }
  return started;
}

void *ThreadPool::threadMain(void *pool) {
  pthread_setname_np(pthread_self(), "pc-worker");
  currentPool = static_cast<ThreadPool *>(pool);
  currentPool->workerLoop();
  return nullptr;
}

void ThreadPool::workerLoop() {
  while (true) {
    // Loops first: what they belong to has begun, and is done sooner.
    if (helpGroup())
      continue;
    if (Task *task = pop()) {
      busy.fetch_add(1);
      // Two submits in a row may have woken one thread only.
      provideThread();
      task->runTask();
      busy.fetch_sub(1);
      continue;
    }
    if (spinForWork() || sleepForWork())
      continue;
    // Who submitted while this thread still counted as asleep relies on it.
    threads.fetch_sub(1);
    if (!stopping.load())
      provideThread();
    if (!reserve.enter(stopping))
      break;
  }
  // The last touch of the pool: whoever shuts it down may free it as soon as it sees this.
  exited.fetch_add(1);
  futexWake(exited, INT_MAX);
}

bool ThreadPool::spinForWork() {
  if (cores == 1)
    return false;
  spinning.fetch_add(1);
  bool found = false;
  for (int64_t end = nowNs() + spinNs; !found && nowNs() < end;)
    for (int i = 0; i < 32 && !(found = hasWork()); ++i)
      spinPause();
  spinning.fetch_sub(1);
  return found || hasWork();
}

/// False when this thread should end.
bool ThreadPool::sleepForWork() {
  uint32_t seen = epoch.load();
  sleeping.fetch_add(1);
  bool goOn = true;
  if (!hasWork()) {
    unsigned count = threads.load();
    if (stopping.load() || count > maxThreads + blocked.load())
      goOn = false;
    else
      futexWait(epoch, seen);
  }
  sleeping.fetch_sub(1);
  return goOn;
}

void ThreadPool::shutdown() {
  stopping.store(true);
  while (true) {
    uint32_t seen = exited.load();
    if (seen == startedThreads.load())
      break;
    epoch.fetch_add(1);
    futexWake(epoch, INT_MAX);
    reserve.wakeAll();
    futexWait(exited, seen, 10);
  }
  while (Task *task = pop())
    task->runTask();
}

void ThreadPool::afterForkInChild() {
  new (&queueLock) std::mutex();
  spinning = sleeping = threads = blocked = startedThreads = openPlaces = 0;
  busy = 0;
  groups = nullptr;
  exited = 0;
  reserve.forget();
  currentPool = nullptr;
}

//===-- Blocking
//----------------------------------------------------------------------------------------------------===//

void ThreadPool::blockedChanged(int change) {
  blocked.fetch_add(static_cast<unsigned>(change));
  busy.fetch_sub(change);
  if (change > 0)
    provideThread();
}

BlockingScope::BlockingScope() {
  if (ThreadPool::currentPool)
    ThreadPool::currentPool->blockedChanged(1);
}

BlockingScope::~BlockingScope() {
  if (ThreadPool::currentPool)
    ThreadPool::currentPool->blockedChanged(-1);
}

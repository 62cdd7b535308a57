// The thread pool. Workers spin for a moment before they sleep, because a wake-up costs more than most tasks.
#include "runtime/ThreadPool.h"

#include "threads/CpuLimits.h"

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
thread_local const Task *ThreadPool::currentTask = nullptr;
/// The thread is inside shared work: loops that it meets there run in it alone.
static thread_local bool sharing = false;

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

ThreadPool::ThreadPool(unsigned maxThreads) : ThreadPool(maxThreads, affinityCores()) {}

ThreadPool::ThreadPool(unsigned maxThreads, unsigned cores) : maxThreads(maxThreads), cores(cores) {}

void ThreadPool::submit(Task *task) {
  if (stopping.load() && currentPool != this) {
    run(task);
    return;
  }
  task->next = nullptr;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    task->link = tail;
    *tail = task;
    tail = &task->next;
    queued.fetch_add(1);
  }
  // A worker that submits is at the end of a task and takes this one next: another thread would only move the data.
  if (currentPool != this)
    provideThread();
}

Task *ThreadPool::pop() {
  if (queued.load() == 0)
    return nullptr;
  std::lock_guard<std::mutex> guard(queueLock);
  Task *task = head;
  if (task)
    unlink(task);
  return task;
}

/// Takes a task out of the queue, under its lock.
void ThreadPool::unlink(Task *task) {
  *task->link = task->next;
  if (task->next)
    task->next->link = task->link;
  else
    tail = task->link;
  task->link = nullptr;
  queued.fetch_sub(1);
}

/// Runs a task; its shared work is recorded as the task's.
void ThreadPool::run(Task *task) {
  const Task *before = currentTask;
  currentTask = task;
  task->runTask();
  currentTask = before;
}

bool ThreadPool::runIfQueued(Task *task) {
  if (queued.load() == 0)
    return false;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    if (!task->link)
      return false;
    unlink(task);
  }
  run(task);
  return true;
}

/// The number of further threads that may work.
unsigned ThreadPool::idleShare() const {
  int working = busy.load();
  return working < static_cast<int>(maxThreads) ? maxThreads - static_cast<unsigned>(std::max(working, 0)) : 0;
}

/// Whether there is work for another thread.
bool ThreadPool::hasWork() const { return queued.load() != 0 || (openPlaces.load() != 0 && idleShare() != 0); }

/// Makes sure that a thread takes a queued task or helps with shared work, if allowed.
void ThreadPool::provideThread() {
  unsigned places = std::min(openPlaces.load(), idleShare());
  unsigned needed = queued.load() + places - std::min(places, waiters.load());
  if (needed == 0 || looking.load() >= needed)
    return;
  // It counts as looking for work from now on, not from its start: a wake-up takes long, and the next caller would wake
  // another thread.
  looking.fetch_add(1);
  if (!sleepers.take() && !startThread())
    looking.fetch_sub(1);
}

void ThreadPool::wakeHelper() {
  if (hasHelper() || idleShare() == 0 || isStopped())
    return;
  looking.fetch_add(1);
  if (!sleepers.take() && !startThread())
    looking.fetch_sub(1);
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
  // Signals are for the threads of the program: a worker with a signal would leave the interrupted wait asleep.
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
    // Without any thread nothing would ever run: run everything in place from now on.
    if (count == 0) {
      stopping.store(true);
      while (Task *task = pop())
        run(task);
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

/// A thread that counted as `idle` has found something to do.
void ThreadPool::setToWork(std::atomic<unsigned> &idle) {
  busy.fetch_add(1);
  idle.fetch_sub(1);
  // The submitter of further work relied on a thread that is busy now.
  provideThread();
}

void ThreadPool::setIdle(std::atomic<unsigned> &idle) {
  idle.fetch_add(1);
  busy.fetch_sub(1);
}

/// Starts as a thread that looks for work, because its creator counted it.
void ThreadPool::workerLoop() {
  while (true) {
    // Shared work first: its task has begun, and ends sooner.
    if (help(looking))
      continue;
    if (Task *task = pop()) {
      setToWork(looking);
      run(task);
      setIdle(looking);
      continue;
    }
    // With a single core, spinning would only delay the program.
    if ((cores > 1 && spinUntil([this] { return hasWork(); }, spinNs)) || sleepForWork())
      continue;
    // A submission while this thread still counted as asleep relies on it.
    threads.fetch_sub(1);
    if (!stopping.load())
      provideThread();
    if (!reserve.enter([this] { return stopping.load(); }))
      break;
  }
  // The last access to the pool: after it, shutdown may free the pool.
  exited.fetch_add(1);
  futexWake(exited, INT_MAX);
}

/// False if this thread should end: it no longer counts as looking for work.
bool ThreadPool::sleepForWork() {
  looking.fetch_sub(1);
  bool isOneTooMany = false;
  if (sleepers.enter([&] {
        isOneTooMany = stopping.load() || threads.load() > maxThreads + blocked.load();
        return isOneTooMany || hasWork();
      }))
    return true;
  if (isOneTooMany && !hasWork())
    return false;
  looking.fetch_add(1);
  return true;
}

void ThreadPool::shutdown() {
  stopping.store(true);
  while (true) {
    uint32_t seen = exited.load();
    if (seen == startedThreads.load())
      break;
    sleepers.wakeAll();
    reserve.wakeAll();
    futexWait(exited, seen, 10);
  }
  while (Task *task = pop())
    run(task);
}

void ThreadPool::afterForkInChild() {
  new (&queueLock) std::mutex();
  looking = waiters = threads = blocked = startedThreads = sharedCount = openPlaces = 0;
  busy = 0;
  shared = nullptr;
  exited = 0;
  sleepers.forget();
  reserve.forget();
  currentPool = nullptr;
}

//===-- Shared work
//-------------------------------------------------------------------------------------------------===//

static void workOn(SharedWork &work) {
  sharing = true;
  work.work();
  sharing = false;
}

bool ThreadPool::isSharing() { return sharing; }

void ThreadPool::open(SharedWork &work, bool isOutside) {
  {
    std::lock_guard<std::mutex> guard(queueLock);
    work.task = currentTask;
    work.next = shared;
    shared = &work;
    if (isOutside)
      busy.fetch_add(1);
    sharedCount.fetch_add(1);
    openPlaces.fetch_add(work.places);
  }
  provideThread();
}

void ThreadPool::close(SharedWork &work, bool isOutside) {
  bool hasOthers;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    SharedWork **link = &shared;
    while (*link != &work)
      link = &(*link)->next;
    *link = work.next;
    sharedCount.fetch_sub(1);
    hasOthers = openPlaces.fetch_sub(work.places) != work.places;
    if (isOutside)
      busy.fetch_sub(1);
  }
  // A worker in reserve may help others now.
  if (isOutside && hasOthers)
    provideThread();
}

void ThreadPool::share(SharedWork &work) {
  bool isOutside = currentPool != this;
  open(work, isOutside);
  workOn(work);
  close(work, isOutside);
}

/// Takes a place for a worker, or for a thread that waits for `waitsFor`. The latter takes places only in the work of
/// that task, because other work must not delay it, but needs no free place: the thread has a core already, while a
/// worker that was woken in its stead may have to share one. Under the lock; false if there is none.
bool ThreadPool::enter(SharedWork &work, const Task *waitsFor) {
  if (waitsFor ? work.task != waitsFor || work.hadWaiter : work.places == 0)
    return false;
  work.hadWaiter |= waitsFor != nullptr;
  if (work.places != 0) {
    --work.places;
    openPlaces.fetch_sub(1);
  }
  work.entered();
  return true;
}

/// Takes part in shared work, if there is a place for this thread, which counted as `idle`; returns when nothing of the
/// work is left. A thread that is not a worker names the task for which it waits.
bool ThreadPool::help(std::atomic<unsigned> &idle, const Task *waitsFor) {
  auto mayBeOpen = [&] { return waitsFor ? sharedCount.load() != 0 : openPlaces.load() != 0 && idleShare() != 0; };
  if (!mayBeOpen())
    return false;
  SharedWork *work;
  {
    std::lock_guard<std::mutex> guard(queueLock);
    work = shared;
    if (!mayBeOpen())
      return false;
    while (work && !enter(*work, waitsFor))
      work = work->next;
    if (!work)
      return false;
  }
  setToWork(idle);
  workOn(*work);
  setIdle(idle);
  work->left();
  return true;
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

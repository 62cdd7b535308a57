// Where sleeping threads wake. Where cores share no cache (those of many virtual machines), the kernel may wake a
// thread on the core of the thread that wakes it. Both then run in turns, until the kernel balances its cores
// milliseconds later, and nothing is gained from the second thread (docs/rationale/011-thread-pool.md). So a caller
// takes its core from the thread that it wakes, and the thread takes it back as soon as it runs on another one.
#include "runtime/SleepingThreads.h"

#include <new>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace pcrt;

SleepingThreads::Sleeper &SleepingThreads::ofThisThread() {
  static thread_local Sleeper self;
  return self;
}

/// Gives a core to a thread, 0 for the calling one, or takes it away. False if that changes nothing; the last core
/// stays.
static bool setCore(pid_t thread, int core, bool isAllowed) {
  // A mask for 1024 cores is too small for some machines: the kernel tells by EINVAL.
  for (size_t cores = 1024; cores <= (1 << 20); cores *= 4) {
    size_t size = CPU_ALLOC_SIZE(cores);
    std::vector<unsigned long> words(size / sizeof(unsigned long));
    auto *mask = reinterpret_cast<cpu_set_t *>(words.data());
    if (sched_getaffinity(thread, size, mask) != 0)
      continue;
    auto number = static_cast<size_t>(core);
    if (bool(CPU_ISSET_S(number, size, mask)) == isAllowed || (!isAllowed && CPU_COUNT_S(size, mask) == 1))
      return false;
    isAllowed ? CPU_SET_S(number, size, mask) : CPU_CLR_S(number, size, mask);
    return sched_setaffinity(thread, size, mask) == 0;
  }
  return false;
}

bool SleepingThreads::add(Sleeper &self) {
  self.isTaken.store(0);
  self.thread = static_cast<pid_t>(syscall(SYS_gettid)); // glibc has gettid() since 2.30 only
  std::lock_guard<std::mutex> guard(lock);
  if (waiting.load() >= most)
    return false;
  self.next = first;
  first = &self;
  waiting.fetch_add(1);
  return true;
}

/// False if the thread was taken meanwhile.
bool SleepingThreads::remove(Sleeper &self) {
  std::lock_guard<std::mutex> guard(lock);
  for (Sleeper **link = &first; *link; link = &(*link)->next)
    if (*link == &self) {
      *link = self.next;
      waiting.fetch_sub(1);
      return true;
    }
  return false;
}

bool SleepingThreads::take() {
  if (waiting.load() == 0)
    return false;
  int core = sched_getcpu();
  Sleeper *taken;
  {
    std::lock_guard<std::mutex> guard(lock);
    taken = first;
    if (!taken)
      return false;
    first = taken->next;
    waiting.fetch_sub(1);
  }
  if (core >= 0 && setCore(taken->thread, core, false))
    taken->lacks = core;
  // The thread may go on, and end, after the store; a wake-up at its address is harmless.
  FutexWord &word = taken->isTaken;
  word.store(1);
  futexWake(word, 1);
  return true;
}

/// Gives the thread its core back: it runs on another one now, and stays there. What it starts, such as the process of
/// a callback, has all cores.
void SleepingThreads::wokenUp(Sleeper &self) {
  if (self.lacks < 0)
    return;
  setCore(0, self.lacks, true);
  self.lacks = -1;
}

void SleepingThreads::wakeAll() {
  std::lock_guard<std::mutex> guard(lock);
  for (Sleeper *sleeper = first; sleeper; sleeper = sleeper->next)
    futexWake(sleeper->isTaken, 1);
}

void SleepingThreads::forget() {
  new (&lock) std::mutex();
  first = nullptr;
  waiting = 0;
}

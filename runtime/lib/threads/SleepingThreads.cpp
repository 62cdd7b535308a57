// Where sleeping threads wake. The kernel wakes a thread on the core of the thread that wakes it, if it slept there and
// the cores share no cache (as those of many virtual machines): both then run in turns, until the kernel balances its
// cores milliseconds later, and nothing is gained from the second thread. A program gets there by a wait for a worker:
// it wakes on the worker's core.
#include "runtime/SleepingThreads.h"

#include <new>
#include <sched.h>
#include <unistd.h>
#include <vector>

using namespace pcrt;

SleepingThreads::Sleeper &SleepingThreads::ofThisThread() {
  static thread_local Sleeper self;
  return self;
}

bool SleepingThreads::add(Sleeper &self) {
  self.isTaken.store(0);
  self.thread = gettid();
  self.core = sched_getcpu();
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
  if (core >= 0 && taken->core == core)
    moveAway(*taken, core);
  // The thread may go on, and end, after the store; a wake-up at its address is harmless.
  FutexWord &word = taken->isTaken;
  word.store(1);
  futexWake(word, 1);
  return true;
}

/// Excludes the caller's core from those of a sleeping thread, and gives back the one that it lacks, if the caller may
/// still run there. The last core stays.
void SleepingThreads::moveAway(Sleeper &sleeper, int core) {
  // A mask for 1024 cores is too small for some machines: the kernel tells by EINVAL.
  for (size_t cores = 1024; cores <= (1 << 20); cores *= 4) {
    size_t size = CPU_ALLOC_SIZE(cores);
    std::vector<unsigned long> words(2 * size / sizeof(unsigned long));
    auto *mask = reinterpret_cast<cpu_set_t *>(words.data()),
         *ofCaller = reinterpret_cast<cpu_set_t *>(words.data() + words.size() / 2);
    if (sched_getaffinity(sleeper.thread, size, mask) != 0 || sched_getaffinity(0, size, ofCaller) != 0)
      continue;
    if (sleeper.excluded >= 0 && CPU_ISSET_S(static_cast<size_t>(sleeper.excluded), size, ofCaller))
      CPU_SET_S(static_cast<size_t>(sleeper.excluded), size, mask);
    CPU_CLR_S(static_cast<size_t>(core), size, mask);
    if (CPU_COUNT_S(size, mask) > 0 && sched_setaffinity(sleeper.thread, size, mask) == 0)
      sleeper.excluded = core;
    return;
  }
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

// Threads wake on another core than that of their caller, and keep their cores.
#include "runtime/SleepingThreads.h"

#include "Check.h"

#include <climits>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pcrt;

/// The cores of a thread; 0: the calling one.
static std::vector<int> coresOf(pid_t thread = 0) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CHECK(sched_getaffinity(thread, sizeof(mask), &mask) == 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mask))
      cores.push_back(core);
  return cores;
}

static void stayOn(const std::vector<int> &cores, pid_t thread = 0) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int core : cores)
    CPU_SET(core, &mask);
  CHECK(sched_setaffinity(thread, sizeof(mask), &mask) == 0);
}

/// A thread that sleeps again and again, and notes its cores after each wake-up.
struct Sleeping {
  explicit Sleeping(SleepingThreads &threads)
      : threads(threads), thread([this] {
          id = static_cast<int>(syscall(SYS_gettid));
          while (this->threads.enter([&] { return isOver.load(); })) {
            core = sched_getcpu();
            allowed = coresOf();
            wakeUps.fetch_add(1);
          }
        }) {}
  ~Sleeping() {
    isOver = true;
    // A thread that tests `isOver` just before it sleeps misses a wake-up.
    while (!threads.take())
      threads.wakeAll();
    thread.join();
  }

  /// Wakes it from the calling thread.
  void wake() {
    int before = wakeUps;
    while (!threads.take())
      std::this_thread::yield();
    while (wakeUps == before)
      std::this_thread::yield();
  }

  SleepingThreads &threads;
  std::atomic<bool> isOver{false};
  std::atomic<int> wakeUps{0}, core{-1}, id{0};
  std::vector<int> allowed;
  std::thread thread;
};

static void wakesBesideItsCaller() {
  const std::vector<int> all = coresOf();
  if (all.size() < 2)
    return;
  SleepingThreads threads(UINT_MAX);
  Sleeping sleeping(threads);
  sleeping.wake();
  constexpr int rounds = 20;
  int apart = 0;
  for (int i = 0; i < rounds; ++i) {
    // The caller moves to the core on which the thread sleeps, unless the kernel moves the thread just before it does.
    int shared = sleeping.core;
    stayOn({shared});
    sleeping.wake();
    apart += sleeping.core != shared;
    // It keeps no trace of that.
    CHECK(sleeping.allowed == all);
  }
  CHECK(apart > rounds / 2);
  // Cores that it lacks anyway are not given to it.
  stayOn({all[0]}, sleeping.id);
  for (int i = 0; i < 4; ++i) {
    stayOn({all[i % 2]});
    sleeping.wake();
    CHECK(sleeping.core == all[0] && sleeping.allowed == std::vector<int>{all[0]});
  }
  stayOn(all);
}

/// With one core there is no other.
static void oneCoreIsEnough() {
  const std::vector<int> all = coresOf();
  stayOn({all.front()});
  {
    SleepingThreads threads(UINT_MAX);
    Sleeping sleeping(threads); // it has the cores of its creator
    for (int i = 0; i < 3; ++i)
      sleeping.wake();
    CHECK(sleeping.core == all.front() && sleeping.allowed == coresOf());
  }
  stayOn(all);
}

static void noMoreThanTheMaximumSleep() {
  SleepingThreads none(0);
  CHECK(!none.enter([] { return false; }) && !none.take());
}

static void endsWithoutAWakeUp() {
  SleepingThreads threads(UINT_MAX);
  CHECK(!threads.enter([] { return true; }) && !threads.take());
}

static void everyWakeUpTakesOneThread() {
  SleepingThreads threads(UINT_MAX);
  std::atomic<bool> isOver{false};
  std::atomic<int> taken{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back([&] {
      while (!isOver)
        if (threads.enter([&] { return isOver.load(); }))
          ++taken;
    });
  int wakeUps = 0;
  while (wakeUps < 2000)
    wakeUps += threads.take();
  while (taken < wakeUps)
    std::this_thread::yield();
  CHECK(taken == wakeUps);
  isOver = true;
  for (std::thread &thread : all) {
    // None misses it for good: those that are about to sleep are woken again.
    std::atomic<bool> joined{false};
    std::thread waker([&] {
      while (!joined) {
        threads.wakeAll();
        std::this_thread::yield();
      }
    });
    thread.join();
    joined = true;
    waker.join();
  }
  CHECK(taken == wakeUps);
}

int main() {
  RUN(wakesBesideItsCaller);
  RUN(oneCoreIsEnough);
  RUN(noMoreThanTheMaximumSleep);
  RUN(endsWithoutAWakeUp);
  RUN(everyWakeUpTakesOneThread);
  return test::failures() != 0;
}

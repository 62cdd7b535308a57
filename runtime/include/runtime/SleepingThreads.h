// Sleeping threads of a pool. Each wake-up takes one thread, so a later caller knows that a thread is on its way, and
// does not wake another. Only ThreadPool uses this class.
#ifndef PYCOMPILER_RUNTIME_SLEEPINGTHREADS_H
#define PYCOMPILER_RUNTIME_SLEEPINGTHREADS_H

#include "runtime/Futex.h"

#include <climits>
#include <mutex>
#include <sys/types.h>

namespace pcrt {

class SleepingThreads {
public:
  explicit SleepingThreads(unsigned most) : most(most) {}

  /// Sleeps until it is taken: true. False if there are enough threads, or if `isOver` holds; that is tested once the
  /// thread can be taken, and after each wake-up.
  template <typename Predicate> bool enter(Predicate isOver) {
    Sleeper &self = ofThisThread();
    if (!add(self))
      return false;
    while (self.isTaken.load() == 0) {
      if (isOver() && remove(self))
        return false;
      futexWait(self.isTaken, 0);
    }
    wokenUp(self);
    return true;
  }

  /// Wakes the thread that sleeps for the shortest time; false if there is none. It does not wake on the caller's core.
  bool take();

  /// Makes sleeping threads test `isOver`.
  void wakeAll();
  /// For the child of a fork, which has none of them.
  void forget();

private:
  /// A thread, as long as it lives.
  struct Sleeper {
    FutexWord isTaken{0};
    Sleeper *next = nullptr;
    pid_t thread = 0;
    int lacks = -1; ///< the core that its caller has taken from it, until it runs
  };
  static Sleeper &ofThisThread();
  static void wokenUp(Sleeper &self);
  bool add(Sleeper &self);
  bool remove(Sleeper &self);

  const unsigned most;
  std::mutex lock;
  Sleeper *first = nullptr;
  std::atomic<unsigned> waiting{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_SLEEPINGTHREADS_H

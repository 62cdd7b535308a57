// Sleeping threads of a pool. Each wake-up takes one thread, so a later caller knows that a thread is on its way, and
// does not wake another. Only ThreadPool uses this class.
#ifndef PYCOMPILER_RUNTIME_SLEEPINGTHREADS_H
#define PYCOMPILER_RUNTIME_SLEEPINGTHREADS_H

#include "runtime/Futex.h"

#include <climits>

namespace pcrt {

class SleepingThreads {
public:
  explicit SleepingThreads(unsigned most) : most(most) {}

  /// Sleeps until it is taken: true. False if there are enough threads, or if `isOver` holds; that is tested once the
  /// thread can be taken, and after each wake-up.
  template <typename Predicate> bool enter(Predicate isOver) {
    unsigned count = waiting.load();
    do {
      if (count >= most)
        return false;
    } while (!waiting.compare_exchange_weak(count, count + 1));
    while (true) {
      uint32_t open = tickets.load();
      if (open > 0) {
        if (tickets.compare_exchange_strong(open, open - 1))
          return true;
        continue;
      }
      // If no waiter is left, a ticket for this thread is being made.
      if (isOver() && leave())
        return false;
      futexWait(tickets, 0);
    }
  }

  /// Wakes a thread; false if there is none.
  bool take() {
    if (!leave())
      return false;
    tickets.fetch_add(1);
    futexWake(tickets, 1);
    return true;
  }

  /// Makes sleeping threads test `isOver`.
  void wakeAll() { futexWake(tickets, INT_MAX); }
  /// For the child of a fork, which has none of them.
  void forget() { waiting = tickets = 0; }

private:
  bool leave() {
    unsigned count = waiting.load();
    do {
      if (count == 0)
        return false;
    } while (!waiting.compare_exchange_weak(count, count - 1));
    return true;
  }

  const unsigned most;
  std::atomic<unsigned> waiting{0};
  /// Threads that were taken and have not woken yet.
  FutexWord tickets{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_SLEEPINGTHREADS_H

// Threads that a pool has too many of for now, asleep: participants of a run wait for each other again and again, and
// each time the pool needs as many threads more. Used by ThreadPool alone.
#ifndef PYCOMPILER_RUNTIME_THREADRESERVE_H
#define PYCOMPILER_RUNTIME_THREADRESERVE_H

#include "runtime/Futex.h"

#include <climits>

namespace pcrt {

class ThreadReserve {
public:
  /// Sleeps until it is taken: true. False when there are enough, or once `stopping`: then the thread is to end.
  bool enter(const std::atomic<bool> &stopping) {
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
      // With nobody left who waits, a ticket for this thread is being made.
      if (stopping.load() && leave())
        return false;
      futexWait(tickets, 0);
    }
  }

  /// Wakes a thread; false when there is none.
  bool take() {
    if (!leave())
      return false;
    tickets.fetch_add(1);
    futexWake(tickets, 1);
    return true;
  }

  /// For `stopping` to be seen.
  void wakeAll() { futexWake(tickets, INT_MAX); }
  /// In the child of a fork, which has none of them.
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

  static constexpr unsigned most = 64;
  std::atomic<unsigned> waiting{0};
  /// Threads that were taken and have not woken yet.
  FutexWord tickets{0};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_THREADRESERVE_H

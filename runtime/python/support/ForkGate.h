// While a thread of Python forks, the others launch nothing that would be in flight: it waits for what is, without the
// GIL, which callbacks need, and would wait forever for threads that go on launching. While the program ends, daemon
// threads are only slowed down: a callback may wait for one. Before Call; Callback and Module close it.
#ifndef PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H
#define PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H

#include "runtime/Futex.h"

namespace pcrt::python::forkgate {

/// How many threads are about to fork, or to end the program.
extern FutexWord closed;

inline bool isClosed() { return closed.load(std::memory_order_relaxed) != 0; }
/// Waits, without the GIL, until nobody forks, or for a moment where the program ends; false with an exception set. Not
/// for what the fork, or the end, waits for itself.
bool pass();

void close();
void openInParent();
void openInChild();

/// For the time in which the program waits for what is in flight, to end.
class Ending {
public:
  Ending();
  ~Ending();
  Ending(const Ending &) = delete;
  Ending &operator=(const Ending &) = delete;
};

} // namespace pcrt::python::forkgate

#endif // PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H

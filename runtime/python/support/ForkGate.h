// While a thread of Python forks, other threads must not start launches: the forking thread waits for work in flight,
// without the GIL, which callbacks need, and would wait forever for threads that keep launching. While the program
// ends, daemon threads are only delayed, because a callback may wait for one. Before Call; Callback and Module close
// it.
#ifndef PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H
#define PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H

#include "runtime/Futex.h"

namespace pcrt::python::forkgate {

/// The number of threads that are about to fork, or to end the program.
extern FutexWord closed;

inline bool isClosed() { return closed.load(std::memory_order_relaxed) != 0; }
/// Waits, without the GIL, until no thread forks, or for a moment if the program ends; false with an exception set. Not
/// for work that the fork, or the end, waits for itself.
bool pass();

void close();
void openInParent();
void openInChild();

/// Active while the ending program waits for work in flight.
class Ending {
public:
  Ending();
  ~Ending();
  Ending(const Ending &) = delete;
  Ending &operator=(const Ending &) = delete;
};

} // namespace pcrt::python::forkgate

#endif // PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H

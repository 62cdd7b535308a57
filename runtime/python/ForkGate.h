// While a thread of Python forks, the others launch nothing that would be in flight: it waits for what is, without the
// GIL, which callbacks need, and would wait forever for threads that go on launching. Before Call; Callback closes it.
#ifndef PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H
#define PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H

#include "runtime/Futex.h"

namespace pcrt::python::forkgate {

/// How many threads are about to fork.
extern FutexWord closed;

inline bool isClosed() { return closed.load(std::memory_order_relaxed) != 0; }
/// Waits, without the GIL, until nobody forks; false with an exception set. Not for what the fork waits for itself.
bool pass();

void close();
void openInParent();
void openInChild();

} // namespace pcrt::python::forkgate

#endif // PYCOMPILER_RUNTIME_PYTHON_FORKGATE_H

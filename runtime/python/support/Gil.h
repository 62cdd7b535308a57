// Giving the GIL away and taking it back, also where the interpreter has ended meanwhile. Python up to 3.13 ends a
// thread that asks for the GIL then, but for its main one, by pthread_exit, through frames that can't be left so: it
// aborts where one of them is noexcept, as destructors are, and what is destroyed on the way needs the GIL. Such a
// thread sleeps here instead, until the process is gone, as Python from 3.14 on has it.
#ifndef PYCOMPILER_RUNTIME_PYTHON_GIL_H
#define PYCOMPILER_RUNTIME_PYTHON_GIL_H

#include "support/PyRef.h"

namespace pcrt::python {

/// For InterruptHook: within WithoutGil, whether a signal handler raised.
bool interrupted();

/// The GIL is released for the scope; `interrupted` takes it back for a moment.
class WithoutGil {
public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;
};

/// The GIL in a thread that may not be Python's.
class WithGil {
public:
  WithGil();
  ~WithGil() { PyGILState_Release(state); }
  WithGil(const WithGil &) = delete;
  WithGil &operator=(const WithGil &) = delete;

private:
  PyGILState_STATE state;
};

/// Whether there is no interpreter to take the GIL of, or not for long.
bool isFinalizing();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_GIL_H

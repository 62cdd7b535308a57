// Releases and acquires the GIL, even if the interpreter has ended meanwhile. Python up to 3.13 then ends a thread that
// requests the GIL, except its main one, by pthread_exit. This unwinds frames that do not support it: it aborts in
// noexcept functions, such as destructors, and destructors on the way need the GIL. Such a thread sleeps here instead,
// until the process is gone, as in Python from 3.14 on.
#ifndef PYCOMPILER_RUNTIME_PYTHON_GIL_H
#define PYCOMPILER_RUNTIME_PYTHON_GIL_H

#include "support/PyRef.h"

namespace pcrt::python {

/// For InterruptHook: within WithoutGil, whether a signal handler raised.
bool interrupted();

/// Releases the GIL for the scope; `interrupted` acquires it for a moment.
class WithoutGil {
public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;
};

/// Holds the GIL in a thread that may not be Python's.
class WithGil {
public:
  WithGil();
  ~WithGil() { PyGILState_Release(state); }
  WithGil(const WithGil &) = delete;
  WithGil &operator=(const WithGil &) = delete;

private:
  PyGILState_STATE state;
};

/// Gives up a reference in any thread, which may have no GIL and run no Python. It does not wait for the GIL: the main
/// thread could end Python meanwhile, and join this thread. It releases the object soon; an ending process frees
/// nothing.
void giveUp(PyObject *object);

/// Whether the interpreter has ended, or is ending, so that its GIL cannot be acquired.
bool isFinalizing();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_GIL_H

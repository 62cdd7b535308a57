// Releases and acquires the GIL, even if the interpreter ends meanwhile: a thread of an ending program then sleeps, as
// runtime/python/support/Gil.h says. This binding shares no code with the runtime's.
#ifndef ARRAY_PYTHON_GIL_H
#define ARRAY_PYTHON_GIL_H

#include <nanobind/nanobind.h>

namespace pycompiler {

/// Acquires the GIL for a thread that released it. If the interpreter ends, before or while the thread waits, the
/// thread sleeps until the process is gone.
void acquireGil(PyThreadState *state);

/// Releases the GIL for the scope, while the compiler works.
class ReleasedGil {
public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil &) = delete;
  ReleasedGil &operator=(const ReleasedGil &) = delete;

private:
  PyThreadState *state;
};

/// Acquires the GIL inside a ReleasedGil, for calls of Python.
class AcquiredGil {
public:
  AcquiredGil();
  ~AcquiredGil() { PyGILState_Release(state); }
  AcquiredGil(const AcquiredGil &) = delete;
  AcquiredGil &operator=(const AcquiredGil &) = delete;

private:
  PyGILState_STATE state;
};

/// From here on, if a thread still compiles, the process ends without LLVM's destructors, which would destroy objects
/// in use. To be called once LLVM is loaded.
void endProcessAtWork();

} // namespace pycompiler

#endif // ARRAY_PYTHON_GIL_H

// Giving the GIL away and taking it back, also where the interpreter has ended meanwhile: a thread of a program that
// ends sleeps then, as runtime/python/support/Gil.h says. This binding shares no code with the runtime's.
#ifndef ARRAY_PYTHON_GIL_H
#define ARRAY_PYTHON_GIL_H

#include <nanobind/nanobind.h>

namespace pycompiler {

/// The GIL is released for the scope, in which the compiler is at work.
class ReleasedGil {
public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil &) = delete;
  ReleasedGil &operator=(const ReleasedGil &) = delete;

private:
  PyThreadState *state;
};

/// Within a ReleasedGil, the GIL for what calls Python.
class AcquiredGil {
public:
  AcquiredGil();
  ~AcquiredGil() { PyGILState_Release(state); }
  AcquiredGil(const AcquiredGil &) = delete;
  AcquiredGil &operator=(const AcquiredGil &) = delete;

private:
  PyGILState_STATE state;
};

/// From here on a process ends without the destructors of LLVM where a thread is at work: these would take away what it
/// uses. To be called once LLVM is loaded.
void endProcessAtWork();

} // namespace pycompiler

#endif // ARRAY_PYTHON_GIL_H

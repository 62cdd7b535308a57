// Python functions as callbacks of compiled code, and waiting for effects. After Exception and Array.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALLBACK_H
#define PYCOMPILER_RUNTIME_PYTHON_CALLBACK_H

#include "runtime/Executable.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// Reads entries of a callback table, tuples of (function, in_avals, out_avals, detached, attended, name), into the
/// executable. The function is one of Python, or a call of a C function (ForeignFunctions). `effects`: 0 none, 1
/// unordered, 2 ordered. False with an exception set.
bool readCallbacks(Executable &executable, PyObject *entries, int effects);

/// Whether an entry calls Python, so that a run may wait.
bool callsPython(PyObject *entries);

/// For tp_traverse of objects that hold an executable: a callback function may hold the jitted function in turn.
int visitCallbacks(const Executable &executable, visitproc visit, void *arg);

/// Adds `effects_barrier` and the hooks before a fork.
bool addCallbackFunctions(PyObject *module);
/// At exit, with the GIL: waits for everything, and shows unreported failures. False with an exception set, if a signal
/// ended the wait.
bool finishEffects();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALLBACK_H

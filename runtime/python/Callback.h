// Python functions as callbacks of compiled code, and launches with effects. After Exception and Array; Call launches.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALLBACK_H
#define PYCOMPILER_RUNTIME_PYTHON_CALLBACK_H

#include "Array.h"
#include "runtime/Executable.h"
#include "runtime/Stream.h"

namespace pcrt::python {

/// Reads entries of a callback table, tuples of (function, in_avals, out_avals, detached, name), into the executable.
/// `effects`: 0 none, 1 unordered, 2 ordered. False with an exception set.
bool readCallbacks(Executable &executable, PyObject *entries, int effects);

/// For tp_traverse of what holds an executable: a function that is called back may hold the jitted function in turn.
int visitCallbacks(const Executable &executable, visitproc visit, void *arg);

/// Launches what has effects: in its place in the order, and noted for effects_barrier. The GIL is held; false with an
/// exception set.
bool launchEffectful(Stream &stream, const Launch &launch, Stream::Manner manner);

/// Adds `effects_barrier` and what happens before a fork.
bool addCallbackFunctions(PyObject *module);
/// At exit, with the GIL: waits for everything, and shows failures that nobody was told of. False with an exception
/// set, when a signal ended the wait.
bool finishEffects();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALLBACK_H

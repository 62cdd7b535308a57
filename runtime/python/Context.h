// What belongs to the thread that calls: its trace, and the configuration that is part of every key. And how a leaf
// that is not an Array becomes one.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CONTEXT_H
#define PYCOMPILER_RUNTIME_PYTHON_CONTEXT_H

#include "Array.h"

namespace pcrt::python {

/// The graph that this thread is tracing, or null.
extern thread_local PyObject *currentTrace __attribute__((tls_model("initial-exec")));

/// The configuration in force, borrowed; never null.
PyObject *contextKey();

/// Instances of it are tracers; null until set_tracer_type.
extern PyTypeObject *tracerType;

inline bool isTracer(PyObject *object) { return tracerType && PyType_IsSubtype(Py_TYPE(object), tracerType); }

/// A new Array of a leaf that is none; null with an exception (TypeError when it is not an array).
PyObject *convertLeaf(PyObject *leaf);

/// A new Array over the memory of a leaf that is an ndarray, one of the arguments that `areTemporaries`, and can't be
/// reached after the call; null when it has to be converted.
PyObject *borrowLeaf(PyObject *leaf);

bool addContextFunctions(PyObject *module);
bool addLeafFunctions(PyObject *module);
/// Filled.cpp's part of the module.
bool addFilledFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CONTEXT_H

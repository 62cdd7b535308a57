// State of the calling thread: its trace, and the configuration that is part of every key.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CONTEXT_H
#define PYCOMPILER_RUNTIME_PYTHON_CONTEXT_H

#include "support/PyRef.h"

namespace pcrt::python {

/// The graph that this thread is tracing, or null.
extern thread_local PyObject *currentTrace __attribute__((tls_model("initial-exec")));

/// The configuration in force, borrowed; never null.
PyObject *contextKey();

/// The type of tracers; null until set_tracer_type.
extern PyTypeObject *tracerType;

inline bool isTracer(PyObject *object) { return tracerType && PyType_IsSubtype(Py_TYPE(object), tracerType); }

bool addContextFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CONTEXT_H

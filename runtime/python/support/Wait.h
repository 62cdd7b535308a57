// Waiting from Python, and the exceptions that the runtime's errors become. After Exception; before arrays.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUPPORT_WAIT_H
#define PYCOMPILER_RUNTIME_PYTHON_SUPPORT_WAIT_H

#include "runtime/Buffer.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// Waits without the GIL, and raises what the computation of the buffer came to; false with an exception set.
bool waitFor(Buffer *buffer);
/// Raises an error of the runtime.
void raise(const Status &status, const char *where);
void raise(const Error &error);
/// Sets the class of failures of executions (None: RuntimeError), returns the previous one or None.
PyObject *setErrorType(PyObject *type);

/// Keeps the exception of a signal that ended a wait for an array's buffer, which NumPy drops; the next question to the
/// array raises it again.
void keepInterruption(const void *array);
bool raiseInterruption(const void *array);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUPPORT_WAIT_H

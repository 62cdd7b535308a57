// Waits from Python, and converts the runtime's errors to exceptions. After Exception; before arrays.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUPPORT_WAIT_H
#define PYCOMPILER_RUNTIME_PYTHON_SUPPORT_WAIT_H

#include "runtime/Buffer.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// Waits without the GIL, and raises the failure of the buffer's computation; false with an exception set.
bool waitFor(Buffer *buffer);
/// Raises an error of the runtime.
void raise(const Status &status, const char *where);
void raise(const Error &error);
/// Sets the class of execution failures (None: RuntimeError), returns the previous one or None.
PyObject *setErrorType(PyObject *type);

/// Sets the class of failures of other processes: it takes the message, and the process, host, pid, cause and place.
void setPeerErrorType(PyObject *type);

/// Keeps the exception of a signal that ended the wait of an array's buffer export, because NumPy drops it. The next
/// access to the array raises it again.
void keepInterruption(const void *array);
bool raiseInterruption(const void *array);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUPPORT_WAIT_H

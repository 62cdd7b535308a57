// Python exceptions in the runtime, as the payload of a failed execution. Before it: Status. After it: callbacks, whose
// exceptions become statuses, and the reads of arrays, which raise them.
#ifndef PYCOMPILER_RUNTIME_PYTHON_EXCEPTION_H
#define PYCOMPILER_RUNTIME_PYTHON_EXCEPTION_H

#include "runtime/Status.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// Takes the current exception of this thread, and returns a status with it as payload. The GIL is held.
Status statusOfException(CallSite site = {});

/// Sets the exception in an error, with a note of its place; false if the error has none.
bool raiseCarried(const Error &error);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_EXCEPTION_H

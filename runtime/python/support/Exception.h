// Exceptions of Python that travel through the runtime, as what a failed execution carries. Before it: Status; after
// it: callbacks, whose exceptions become statuses, and the reads of arrays, which raise them.
#ifndef PYCOMPILER_RUNTIME_PYTHON_EXCEPTION_H
#define PYCOMPILER_RUNTIME_PYTHON_EXCEPTION_H

#include "runtime/Status.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// Takes the exception that is set in this thread away, as a status whose payload it is. The GIL is held.
Status statusOfException(CallSite site = {});

/// Sets the exception that an error carries, with a note of where it happened; false when it carries none.
bool raiseCarried(const Error &error);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_EXCEPTION_H

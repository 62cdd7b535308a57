// Calls a CompiledCall: assembles the results of its executable to the tree that the user's function returns. After
// CompiledCall; before JitFunction, whose cache holds CompiledCalls.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_H

#include "call/CompiledCall.h"

namespace pcrt::python {

/// Calls it on flat leaves, which must be of the avals that it was compiled for: the tree of results, or null.
PyObject *runCompiledCall(CompiledCallObject *call, ArrayObject *const *leaves);

bool addCompiledCallType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_H

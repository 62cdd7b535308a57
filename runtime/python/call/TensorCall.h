// Calls of compiled code on the tensors of another library, which own all memory: no Array is made. After Execute.
#ifndef PYCOMPILER_RUNTIME_PYTHON_TENSORCALL_H
#define PYCOMPILER_RUNTIME_PYTHON_TENSORCALL_H

#include "support/PyRef.h"

namespace pcrt::python {

/// The class TensorCall.
void addTensorCallType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_TENSORCALL_H

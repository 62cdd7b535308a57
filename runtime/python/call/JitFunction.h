// JitFunction, the type of jitted functions. Last of the binding's types.
#ifndef PYCOMPILER_RUNTIME_PYTHON_JITFUNCTION_H
#define PYCOMPILER_RUNTIME_PYTHON_JITFUNCTION_H

#include "support/PyRef.h"

namespace pcrt::python {

bool addJitFunctionType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_JITFUNCTION_H

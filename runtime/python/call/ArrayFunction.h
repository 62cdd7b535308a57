// ArrayFunction: a function of arrays whose common calls never enter Python. After JitFunction, which compiles them.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAYFUNCTION_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAYFUNCTION_H

#include "support/PyRef.h"

namespace pcrt::python {

bool addArrayFunctionType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAYFUNCTION_H

// The type of arrays, as Python sees it. After Elements, Sharded and Operators.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_ARRAYTYPE_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_ARRAYTYPE_H

#include "support/PyRef.h"

namespace pcrt::python {

bool addArrayType(PyObject *module);
/// Gives Array the class that says what else is an array: see ArrayClass.cpp. False with an exception.
bool setArrayClass();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_ARRAYTYPE_H

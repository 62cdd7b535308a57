// The Python type of arrays. After Elements, Sharded and Operators.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_ARRAYTYPE_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_ARRAYTYPE_H

#include "support/PyRef.h"

namespace pcrt::python {

bool addArrayType(PyObject *module);
/// Gives Array its metaclass, which implements `isinstance`: see ArrayClass.cpp. False with an exception.
bool setArrayClass();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_ARRAYTYPE_H

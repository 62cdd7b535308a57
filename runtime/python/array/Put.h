// Arrays put on a device.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_PUT_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_PUT_H

#include "support/PyRef.h"

namespace pcrt::python {

bool addPutFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_PUT_H

// The parts of the module without a header of their own.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_PARTS_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_PARTS_H

#include "support/PyRef.h"

namespace pcrt::python {

/// Dlpack.cpp's part of the module.
bool addDlpackFunctions(PyObject *module);
/// Filled.cpp's part of the module.
bool addFilledFunctions(PyObject *module);
/// Ready.cpp's part of the module.
bool addReadyFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_PARTS_H

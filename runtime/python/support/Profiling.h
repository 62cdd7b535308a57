// The part of the module _runtime that records profiles.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PROFILING_H
#define PYCOMPILER_RUNTIME_PYTHON_PROFILING_H

#include "support/PyRef.h"

namespace pcrt::python {

void addProfileFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PROFILING_H

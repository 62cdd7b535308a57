// Runs one program on several devices at once. After Call; Module adds it to the binding.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SPMD_H
#define PYCOMPILER_RUNTIME_PYTHON_SPMD_H

#include <nanobind/nanobind.h>

namespace pcrt::python {

void addSpmdFunctions(nanobind::module_ &module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SPMD_H

// The compiler of the PJRT plugin: Python's functions. After ExecutableType; Module adds its functions.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PJRT_COMPILER_H
#define PYCOMPILER_RUNTIME_PYTHON_PJRT_COMPILER_H

#include <nanobind/nanobind.h>

namespace pcrt::python {

/// Throws nanobind's exceptions.
void addPjrtFunctions(nanobind::module_ &module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PJRT_COMPILER_H

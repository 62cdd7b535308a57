// The functions by which Python starts a program of several processes and synchronizes with the others: the runtime's
// Processes and Mpi.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PROCESSFUNCTIONS_H
#define PYCOMPILER_RUNTIME_PYTHON_PROCESSFUNCTIONS_H

#include <nanobind/nanobind.h>

namespace pcrt::python {

void addProcessFunctions(nanobind::module_ &module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PROCESSFUNCTIONS_H

// C functions for the tables of executables. Before Callback, which reads the tables.
#ifndef PYCOMPILER_RUNTIME_PYTHON_FOREIGNFUNCTIONS_H
#define PYCOMPILER_RUNTIME_PYTHON_FOREIGNFUNCTIONS_H

#include "support/PyRef.h"

namespace pcrt::python {

/// The name of capsules that hold a HostCallback which is the call of a C function.
inline constexpr const char *foreignCapsule = "pycompiler.ForeignCall";

/// Adds the functions that make calls of C functions, and those that check and register handlers and types of state.
void addForeignFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_FOREIGNFUNCTIONS_H

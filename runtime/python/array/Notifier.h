// The part of the module _runtime for event loops.
#ifndef PYCOMPILER_RUNTIME_PYTHON_NOTIFIER_H
#define PYCOMPILER_RUNTIME_PYTHON_NOTIFIER_H

#include "support/PyRef.h"

namespace pcrt::python {

/// Throws nanobind's exceptions.
void addNotifierType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_NOTIFIER_H

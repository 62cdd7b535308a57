// Python's operators on arrays. After Context; Array's type takes the slots.
#ifndef PYCOMPILER_RUNTIME_PYTHON_OPERATORS_H
#define PYCOMPILER_RUNTIME_PYTHON_OPERATORS_H

#include "support/PyRef.h"

namespace pcrt::python {

/// The number protocol, comparisons and indexing, for the spec of Array's type; ended by a null slot.
const PyType_Slot *operatorSlots();
bool addOperatorFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_OPERATORS_H

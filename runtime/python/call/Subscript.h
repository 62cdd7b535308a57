// x[index] without a kernel. After Plain; Operators' subscript asks it first.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUBSCRIPT_H
#define PYCOMPILER_RUNTIME_PYTHON_SUBSCRIPT_H

#include "array/Array.h"

namespace pcrt::python {

/// The elements at an index of ints and a slice that lie next to each other, if they are few, and there already. Null
/// without an exception when it is for others to say. Nothing may be being traced.
PyObject *subscriptHere(ArrayObject *array, PyObject *index);

bool addSubscriptFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUBSCRIPT_H

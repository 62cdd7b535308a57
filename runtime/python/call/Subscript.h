// x[index] without a kernel. After Plain; the subscript of Operators tries it first.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUBSCRIPT_H
#define PYCOMPILER_RUNTIME_PYTHON_SUBSCRIPT_H

#include "array/Array.h"

namespace pcrt::python {

/// The adjacent elements at an index of ints and a slice, if they are few and ready. Null without an exception if the
/// general path must decide. There must be no active trace.
PyObject *subscriptHere(ArrayObject *array, PyObject *index);

bool addSubscriptFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUBSCRIPT_H

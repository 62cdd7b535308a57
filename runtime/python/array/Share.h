// Arrays that share the elements of another one, and copies. After Array and Copies.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_SHARE_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_SHARE_H

#include "array/Array.h"

namespace pcrt::python {

/// Another array of the same elements, in the same memory, in any state: a new reference, or null with an exception.
PyObject *shareElements(ArrayObject *array);
/// The same for each array of a tuple.
PyRef shareAll(PyObject *arrays);
/// A part of an array, or the whole, with another aval: a new array with the same memory, or null.
PyObject *viewOf(ArrayObject *array, AvalObject *aval, size_t offset);

bool addShareFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_SHARE_H

// Converts leaves that are not Arrays.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_LEAF_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_LEAF_H

#include "array/Array.h"

namespace pcrt::python {

/// A new Array for a leaf that is not one; null with an exception (TypeError if it is not an array).
PyObject *convertLeaf(PyObject *leaf);

/// A new Array over the memory of an ndarray, one of the arguments that `areTemporaries`, if no code can reach it after
/// the call; null if it must be converted.
PyObject *borrowLeaf(PyObject *leaf);

bool addLeafFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_LEAF_H

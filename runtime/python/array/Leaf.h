// How a leaf that is not an Array becomes one.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_LEAF_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_LEAF_H

#include "array/Array.h"

namespace pcrt::python {

/// A new Array of a leaf that is none; null with an exception (TypeError when it is not an array).
PyObject *convertLeaf(PyObject *leaf);

/// A new Array over the memory of a leaf that is an ndarray, one of the arguments that `areTemporaries`, and can't be
/// reached after the call; null when it has to be converted.
PyObject *borrowLeaf(PyObject *leaf);

bool addLeafFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_LEAF_H

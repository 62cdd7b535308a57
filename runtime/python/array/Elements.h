// Conversions between the elements of arrays and of NumPy arrays, in the host's memory. After Pending and Sharded.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_ELEMENTS_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_ELEMENTS_H

#include "array/Array.h"

namespace pcrt::python {

/// A copy of a C-contiguous ndarray of the aval's shape and dtype; null with an exception.
PyObject *arrayFromNumpy(PyObject *ndarray, AvalObject *aval);

/// The elements in host memory, where a copy may still be pending. Borrowed; null with an exception.
Buffer *hostElements(ArrayObject *array);
/// The elements in host memory, ready: those of the array, or a copy that it keeps. Borrowed; null with an exception.
Buffer *readableElements(ArrayObject *array);
/// A read-only ndarray over the same memory, of an array on one device; null with an exception.
PyRef viewAsNumpy(ArrayObject *array);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_ELEMENTS_H

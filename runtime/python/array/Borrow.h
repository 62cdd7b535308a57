// Takes the memory of a NumPy array instead of a copy, if no other code can ever write to it. Used for the arguments of
// jitted functions.
#ifndef PYCOMPILER_RUNTIME_PYTHON_BORROW_H
#define PYCOMPILER_RUNTIME_PYTHON_BORROW_H

#include "array/Array.h"

namespace pcrt::python {

/// Whether the arguments of a vectorcall are on the interpreter's stack: then an object's only reference there ends
/// with the call. (In other places, such as the tuple of f(*args), the program can still reach the object.)
bool areTemporaries(PyObject *const *values, size_t flags);

/// Whether the object, one of such arguments, is an ndarray without other references that owns memory large enough to
/// avoid a copy.
bool isSoleNdarray(PyObject *object);

/// An array over the memory of such an ndarray, which it keeps alive.
PyObject *arrayOverNumpy(PyObject *ndarray, AvalObject *aval);
/// Whether a buffer belongs to such an array.
bool isBorrowed(const Buffer &buffer);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_BORROW_H

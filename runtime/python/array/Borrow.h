// Taking the memory of a NumPy array instead of a copy of it, where nobody else can ever write to it. Used by the call
// of a jitted function on its arguments.
#ifndef PYCOMPILER_RUNTIME_PYTHON_BORROW_H
#define PYCOMPILER_RUNTIME_PYTHON_BORROW_H

#include "array/Array.h"

namespace pcrt::python {

/// Whether the arguments of a vectorcall stand on the interpreter's stack: then a reference there that is an object's
/// only one is gone with the call. (Elsewhere, in a tuple for f(*args), the program can still reach the object.)
bool areTemporaries(PyObject *const *values, size_t flags);

/// Whether the object, one of such arguments, is an ndarray that nothing else refers to, which owns memory worth not
/// being copied.
bool isSoleNdarray(PyObject *object);

/// An array over the memory of such an ndarray, which lives on with it.
PyObject *arrayOverNumpy(PyObject *ndarray, AvalObject *aval);
/// Whether a buffer is that of such an array.
bool isBorrowed(const Buffer &buffer);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_BORROW_H

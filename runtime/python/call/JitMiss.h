// The slow path of a jitted function: it compiles a new call, and explains calls that fail.
#ifndef PYCOMPILER_RUNTIME_PYTHON_JITMISS_H
#define PYCOMPILER_RUNTIME_PYTHON_JITMISS_H

#include "call/JitObject.h"

namespace pcrt::python {

/// The compiled call, or another callable, that `miss` makes for the arguments, put into the cache; null with an
/// exception.
PyRef compileCall(JitObject *jit, const CallReader &reader, const Arguments &arguments);

/// If the call failed because of operands on different devices, the error gets the function's names for them.
void nameConflict(JitObject *jit, const CallReader &reader, const Arguments &arguments);

/// The type of the keys, and set_leaf_namer.
bool addJitMiss(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_JITMISS_H

// The class Executable of the module: loading, binding and calling compiled code. After Kernels, Callback and Execute.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_EXECUTABLETYPE_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_EXECUTABLETYPE_H

#include "runtime/Executable.h"
#include "support/PyRef.h"

namespace pcrt::python {

/// The object that `_runtime.Executable` wraps.
struct LoadedExecutable {
  RefPtr<Executable> executable;
};

/// The executable of a Python object of that class; null with TypeError.
LoadedExecutable *loadedExecutable(PyObject *object);

/// Throws nanobind's exceptions.
void addExecutableType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_EXECUTABLETYPE_H

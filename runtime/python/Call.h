// Running an executable on arrays, and CompiledCall: an executable with what turns its results into the tree that the
// user's function returns. After Array and Tree; before JitFunction, whose cache holds CompiledCalls.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_H

#include "Array.h"
#include "Tree.h"
#include "runtime/Executable.h"

namespace pcrt::python {

/// What `_runtime.Executable` wraps.
struct LoadedExecutable {
  RefPtr<Executable> executable;
};

/// The executable of a Python object of that class; null with TypeError.
LoadedExecutable *loadedExecutable(PyObject *object);

/// Has the launch made on a device, holding its arguments; false when waiting for room was interrupted.
bool launchOn(Device &device, const Launch &request, uint64_t resultBytes);

/// Enqueues (or, if it is short and its inputs are ready, runs) the executable. `results` receives one new array for
/// each aval. `given` has the buffers of results that are computed in the memory of arguments, null for the others.
/// False with an exception set.
bool execute(Device &device, Executable &executable, Buffer *const *args, size_t argCount, AvalObject *const *outAvals,
             size_t resultCount, PyObject **results, Buffer *const *given = nullptr, bool committed = false);

struct CompiledCallObject;
extern PyTypeObject *compiledCallType;
inline bool isCompiledCall(PyObject *object) { return Py_TYPE(object) == compiledCallType; }

/// How many leaves a call must have at least.
size_t leavesNeeded(const CompiledCallObject *call);
/// Calls it on flat leaves, which must be of the avals that it was compiled for: the tree of results, or null.
PyObject *runCompiledCall(CompiledCallObject *call, ArrayObject *const *leaves);

/// Where the running Python code is, outside of this package: "file.py:12". Lives forever.
const char *launchPlace();

/// A part of an array, or all of it, under another aval: a new array with the same memory, or null.
PyObject *viewOf(ArrayObject *array, AvalObject *aval, size_t offset);

/// Tells the program why the memory of an array that it donated is copied and not taken; `twice` when the call has it
/// twice. False with an exception set.
bool reportKept(const std::string &name, const Buffer &buffer, AvalObject *aval, bool twice);

bool addCompiledCallType(PyObject *module);
bool addDonationFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_H

// CompiledCall: an executable, and the description of the tree that the user's function returns. Constructed here from
// Python objects; Call runs it. After Array and Tree.
#ifndef PYCOMPILER_RUNTIME_PYTHON_COMPILEDCALL_H
#define PYCOMPILER_RUNTIME_PYTHON_COMPILEDCALL_H

#include "array/Array.h"
#include "runtime/Executable.h"

#include <vector>

namespace pcrt::python {

enum class OutputKind : uint8_t { Result, Argument, Constant, View };

struct Output {
  OutputKind kind;
  size_t index;       // of the result or the leaf
  PyObject *constant; // borrowed from `outputs`
  // For a view: its aval, also borrowed, and its first byte in the leaf.
  AvalObject *aval = nullptr;
  size_t offset = 0;
  // For a result: whether an earlier output is the same result.
  bool isRepeated = false;
};

/// A result that is computed in the memory of a donated argument of the executable.
struct Alias {
  size_t result, argument;
};

/// Copies of a call's constants in the memory of another device.
struct ConstantCopies {
  struct OfDevice {
    Device *device;
    std::vector<RefPtr<Buffer>> buffers;
  };
  std::vector<OfDevice> all;
};

/// The call for a device that this code was not compiled for.
struct CallElsewhere {
  Device *device;
  PyObject *call;
};

struct CompiledCallObject {
  PyObject_HEAD
      // The Python objects; they own everything below.
      PyObject *executable,
      *inUsed, *outputs, *outAvals, *outTree, *consts, *donated, *aliases, *device, *capability;
  /// The call to use instead if the views among the outputs are not possible; null without views.
  PyObject *copying;
  /// The function that returns the call for another device, and its earlier results; null without code.
  PyObject *elsewhere;
  std::vector<CallElsewhere> *others;
  Executable *loaded;
  std::vector<size_t> *used, *given; // leaves that are read, and leaves that are donated
  std::vector<Output> *results;
  bool returnsLeaves; // whole or in parts
  std::vector<Alias> *inPlace;
  size_t leavesNeeded;
  Device *place;               // the device that the function itself chooses, or null
  std::vector<size_t> *placed; // leaves that determine the device of a call: those that are read or returned
  std::vector<size_t> *kept;   // those of `placed` that are not donated
  ConstantCopies *copies;
};

extern PyTypeObject *compiledCallType;
inline bool isCompiledCall(PyObject *object) { return Py_TYPE(object) == compiledCallType; }
inline CompiledCallObject *asCall(PyObject *object) { return reinterpret_cast<CompiledCallObject *>(object); }

/// The minimum number of leaves of a call.
inline size_t leavesNeeded(const CompiledCallObject *call) { return call->leavesNeeded; }

/// For the type: the constructor, which checks once everything that the hot path relies on, and the destructor.
PyObject *newCompiledCall(PyTypeObject *type, PyObject *args, PyObject *kwargs);
int traverseCompiledCall(PyObject *self, visitproc visit, void *arg);
void deallocateCompiledCall(PyObject *self);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_COMPILEDCALL_H

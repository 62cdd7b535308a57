// CompiledCall: an executable with what turns its results into the tree that the user's function returns. Made here, of
// what Python says; Call runs it. After Array and Tree.
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
  // Of a view: its aval, borrowed too, and the byte of the leaf at which it starts.
  AvalObject *aval = nullptr;
  size_t offset = 0;
  // Of a result: whether an output before this one is it too.
  bool isRepeated = false;
};

/// A result that is computed in the memory of a donated argument of the executable.
struct Alias {
  size_t result, argument;
};

/// The constants of a call in the memory of a device where they are not.
struct ConstantCopies {
  struct OfDevice {
    Device *device;
    std::vector<RefPtr<Buffer>> buffers;
  };
  std::vector<OfDevice> all;
};

/// The call of a device that the code of another one is not for.
struct CallElsewhere {
  Device *device;
  PyObject *call;
};

struct CompiledCallObject {
  PyObject_HEAD
      // As given, for Python; they own everything below.
      PyObject *executable,
      *inUsed, *outputs, *outAvals, *outTree, *consts, *donated, *aliases, *device, *capability;
  /// What is called instead when the views among the outputs are not to be had; null without views.
  PyObject *copying;
  /// What gives the call for a device that this one's code is not for, and those that it gave; null without code.
  PyObject *elsewhere;
  std::vector<CallElsewhere> *others;
  Executable *loaded;
  std::vector<size_t> *used, *given; // leaves that are read, and those that are donated
  std::vector<Output> *results;
  bool returnsLeaves; // as they are, or parts of them
  std::vector<Alias> *inPlace;
  size_t leavesNeeded;
  Device *place;               // where the function puts values itself, or null
  std::vector<size_t> *placed; // leaves that say where a call runs: those that are read or returned
  std::vector<size_t> *kept;   // those of them that are not donated
  ConstantCopies *copies;
};

extern PyTypeObject *compiledCallType;
inline bool isCompiledCall(PyObject *object) { return Py_TYPE(object) == compiledCallType; }
inline CompiledCallObject *asCall(PyObject *object) { return reinterpret_cast<CompiledCallObject *>(object); }

/// How many leaves a call must have at least.
inline size_t leavesNeeded(const CompiledCallObject *call) { return call->leavesNeeded; }

/// For the type: what makes one, so that everything the hot path relies on is checked once, and what ends it.
PyObject *newCompiledCall(PyTypeObject *type, PyObject *args, PyObject *kwargs);
int traverseCompiledCall(PyObject *self, visitproc visit, void *arg);
void deallocateCompiledCall(PyObject *self);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_COMPILEDCALL_H

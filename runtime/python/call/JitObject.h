// A jitted function, and the arguments of one call of it, flattened straight into the words of the key.
#ifndef PYCOMPILER_RUNTIME_PYTHON_JITOBJECT_H
#define PYCOMPILER_RUNTIME_PYTHON_JITOBJECT_H

#include "array/Array.h"
#include "array/Leaf.h"
#include "array/Pending.h"
#include "call/CallCache.h"
#include "support/Context.h"
#include "types/Tree.h"

#include <algorithm>
#include <vector>

namespace pcrt::python {

struct JitObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *fun, *miss, *traced, *sharded;
  PyObject *dict, *weakReferences;
  PyObject *staticNames; // tuple of str
  std::vector<Py_ssize_t> *staticNumbers;
  CallCache *cache;
  PyObject *lastMiss;
};

inline JitObject *asJit(PyObject *object) { return reinterpret_cast<JitObject *>(object); }

/// The classes of mutable references and of values of users' own types: Python handles calls with such arguments.
SmallVector<PyTypeObject *, 4> &handledTypes();

inline bool isHandled(PyObject *object) {
  auto &types = handledTypes();
  return std::any_of(types.begin(), types.end(), [&](PyTypeObject *type) { return Py_TYPE(object) == type; });
}

/// The arguments of the vectorcall.
struct Arguments {
  PyObject *const *values;
  Py_ssize_t positional;
  PyObject *names; // tuple of the keywords, or null
  size_t flags;

  Py_ssize_t keywords() const { return names ? PyTuple_GET_SIZE(names) : 0; }
  PyObject *keyword(Py_ssize_t i) const { return PyTuple_GET_ITEM(names, i); }
  PyObject *keywordValue(Py_ssize_t i) const { return values[positional + i]; }
};

/// The words and the leaves of a call.
class CallSink final : public TreeSink {
public:
  bool leaf(PyObject *object) override {
    if (!isArray(object)) {
      if (isTracer(object) || isHandled(object)) {
        foundTracer = true;
        return false;
      }
      PyObject *given = std::exchange(object, convertLeaf(object));
      if (!object)
        return flattenNothingInstead(given, *this);
      keep(object);
    }
    if (!ensureSize(asArray(object)))
      return false;
    word(Word::identity(asArray(object)->aval));
    foundSharded |= asArray(object)->shards != nullptr;
    leaves.push(asArray(object));
    return true;
  }

  SmallVector<ArrayObject *, 32> leaves;
  bool foundTracer = false;
  /// A leaf is on several devices: compiled calls for one device do not apply.
  bool foundSharded = false;
};

class CallReader {
public:
  CallReader(JitObject *jit, const Arguments &arguments) : jit(jit), arguments(arguments) {}

  /// False with an exception set, or with sink.foundTracer, also for a mutable reference.
  bool read();
  bool isStaticNumber(Py_ssize_t i) const {
    const std::vector<Py_ssize_t> &numbers = *jit->staticNumbers;
    return !numbers.empty() && std::find(numbers.begin(), numbers.end(), i) != numbers.end();
  }
  /// 1, 0, or -1 with an exception.
  int isStaticName(PyObject *name) const {
    return PyTuple_GET_SIZE(jit->staticNames) == 0 ? 0 : PySequence_Contains(jit->staticNames, name);
  }
  /// The keywords in the order of their names, in which a dict of them is flattened.
  Py_ssize_t sortedKeyword(size_t i) const { return keywordOrder[i]; }

  CallSink sink;
  uint64_t hash = 0;
  /// Whether the data of some registered node has no hash.
  bool isHashable = true;

private:
  bool readStatic(PyObject *value, PyObject *name, Py_ssize_t number);
  bool readDynamic(PyObject *value, PyObject *name, Py_ssize_t number);
  bool readKeywords();
  PyRef describe(PyObject *name, Py_ssize_t number) const;
  void explainLeaf(PyObject *value, PyObject *name, Py_ssize_t number, size_t leafNumber) const;

  JitObject *jit;
  const Arguments &arguments;
  SmallVector<Py_ssize_t, 16> keywordOrder;
};

/// The vectorcall of a jitted function.
PyObject *callJit(PyObject *self, PyObject *const *values, size_t flags, PyObject *names);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_JITOBJECT_H

// Waits for every array of a tree. After Tree and Array.
#include "array/Parts.h"

#include "array/Pending.h"
#include "support/Wait.h"
#include "types/TreeWords.h"

using namespace pcrt;
using namespace pcrt::python;

namespace {
class WaitingSink final : public TreeSink {
public:
  bool leaf(PyObject *object) override {
    if (!isArray(object))
      return true;
    if (!asArray(object)->shards)
      return waitForHeld(object);
    PyRef result = PyRef::steal(PyObject_CallMethod(object, "block_until_ready", nullptr));
    return static_cast<bool>(result);
  }

private:
  /// Another thread may delete the array meanwhile.
  static bool waitForHeld(PyObject *array) {
    if (!ensureElements(asArray(array)))
      return false;
    RefPtr<Buffer> buffer(asArray(array)->buffer);
    return waitFor(buffer.get());
  }
};
} // namespace

/// The only argument, by position or by name; null with an exception otherwise.
static PyObject *treeOf(PyObject *const *values, Py_ssize_t positional, PyObject *names) {
  Py_ssize_t keywords = names ? PyTuple_GET_SIZE(names) : 0;
  if (positional + keywords != 1) {
    PyErr_Format(PyExc_TypeError, "block_until_ready: takes one argument, a tree of arrays; %zd were given",
                 positional + keywords);
    return nullptr;
  }
  if (keywords == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "tree") != 0) {
    PyErr_Format(PyExc_TypeError, "block_until_ready: has a parameter 'tree', and none '%U'",
                 PyTuple_GET_ITEM(names, 0));
    return nullptr;
  }
  return values[0];
}

/// Programs call this in the innermost loop of measurements: a Python function around it would take as long as the
/// awaited call.
static PyObject *blockUntilReady(PyObject *, PyObject *const *values, Py_ssize_t positional, PyObject *names) {
  PyObject *tree = treeOf(values, positional, names);
  if (!tree)
    return nullptr;
  WaitingSink sink;
  bool done = isArray(tree) ? sink.leaf(tree) : flatten(tree, sink);
  return done ? Py_NewRef(tree) : nullptr;
}

static PyMethodDef functions[] = {
    {"block_until_ready", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(blockUntilReady)),
     METH_FASTCALL | METH_KEYWORDS,
     "block_until_ready($module, tree)\n--\n\n"
     "Wait until every array of the tree is computed, and raise the failure of one of them; returns the tree.\n\n"
     ">>> import pycompiler as pc\n"
     ">>> import pycompiler.numpy as pnp\n"
     ">>> pc.block_until_ready({\"a\": pnp.ones(2)})\n"
     "{'a': Array([1., 1.], dtype=float32)}\n"},
    {}};

bool pcrt::python::addReadyFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

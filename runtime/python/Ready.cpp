// Waiting for every array of a tree. After Tree and Array.
#include "Placement.h"
#include "Tree.h"

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
  /// The array may be deleted by another thread meanwhile.
  static bool waitForHeld(PyObject *array) {
    if (!ensureElements(asArray(array)))
      return false;
    RefPtr<Buffer> buffer(asArray(array)->buffer);
    return waitFor(buffer.get());
  }
};
} // namespace

static PyObject *waitForTree(PyObject *, PyObject *tree) {
  WaitingSink sink;
  return flatten(tree, sink) ? Py_NewRef(tree) : nullptr;
}

static PyMethodDef functions[] = {
    {"wait_for_tree", waitForTree, METH_O,
     "Wait for every array of a tree, raise what went wrong in the first that failed; returns the tree."},
    {}};

bool pcrt::python::addReadyFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

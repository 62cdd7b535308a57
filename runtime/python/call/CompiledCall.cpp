// CompiledCall: its construction from Python objects.
#include "call/CompiledCall.h"

#include "array/DevicePlacement.h"
#include "call/ExecutableType.h"
#include "types/Tree.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::python;

PyTypeObject *pcrt::python::compiledCallType = nullptr;

static bool fail(const char *message) {
  PyErr_Format(PyExc_ValueError, "CompiledCall: %s", message);
  return false;
}

static bool readLeaves(CompiledCallObject *call, PyObject *numbers, std::vector<size_t> &leaves) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); ++i) {
    size_t index = PyLong_AsSize_t(PyTuple_GET_ITEM(numbers, i));
    if (index == static_cast<size_t>(-1) && PyErr_Occurred())
      return false;
    leaves.push_back(index);
    call->leavesNeeded = std::max(call->leavesNeeded, index + 1);
  }
  return true;
}

static bool readView(CompiledCallObject *call, PyObject *value) {
  PyObject *aval;
  Py_ssize_t leaf, offset;
  if (!PyTuple_Check(value) || !PyArg_ParseTuple(value, "nO!n:outputs", &leaf, avalType, &aval, &offset))
    return PyErr_Occurred() ? false : fail("a view is not (leaf, aval, offset)");
  auto *shape = reinterpret_cast<AvalObject *>(aval);
  if (leaf < 0 || offset < 0 || !shape->isConcrete() || !call->copying)
    return fail("a view needs a leaf, a concrete aval, an offset, and `copying`");
  call->leavesNeeded = std::max(call->leavesNeeded, static_cast<size_t>(leaf) + 1);
  call->results->push_back({OutputKind::View, static_cast<size_t>(leaf), nullptr, shape, static_cast<size_t>(offset)});
  return true;
}

static bool readOutput(CompiledCallObject *call, PyObject *entry) {
  const char *kind;
  PyObject *value;
  if (!PyTuple_Check(entry) || !PyArg_ParseTuple(entry, "sO:outputs", &kind, &value))
    return PyErr_Occurred() ? false : fail("an output is not a pair");
  if (std::strcmp(kind, "const") == 0) {
    if (!isArray(value))
      return fail("a constant output is not an Array");
    call->results->push_back({OutputKind::Constant, 0, value});
    return true;
  }
  if (std::strcmp(kind, "view") == 0)
    return readView(call, value);
  size_t index = PyLong_AsSize_t(value);
  if (index == static_cast<size_t>(-1) && PyErr_Occurred())
    return false;
  if (std::strcmp(kind, "arg") == 0) {
    call->leavesNeeded = std::max(call->leavesNeeded, index + 1);
    call->results->push_back({OutputKind::Argument, index, nullptr});
    return true;
  }
  if (std::strcmp(kind, "result") != 0)
    return fail("an output is neither 'result', 'arg', 'view' nor 'const'");
  if (index >= static_cast<size_t>(PyTuple_GET_SIZE(call->outAvals)))
    return fail("an output names a result that the executable does not have");
  bool isRepeated = std::any_of(call->results->begin(), call->results->end(), [&](const Output &output) {
    return output.kind == OutputKind::Result && output.index == index;
  });
  call->results->push_back({OutputKind::Result, index, nullptr, nullptr, 0, isRepeated});
  return true;
}

static bool readAliases(CompiledCallObject *call) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->aliases); ++i) {
    Py_ssize_t result, argument;
    PyObject *pair = PyTuple_GET_ITEM(call->aliases, i);
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "nn:aliases", &result, &argument))
      return PyErr_Occurred() ? false : fail("an alias is not a pair");
    auto at = static_cast<size_t>(argument);
    if (result < 0 || result >= PyTuple_GET_SIZE(call->outAvals) || argument < 0 || at >= call->used->size())
      return fail("an alias names a result or an argument that the executable does not have");
    if (std::find(call->given->begin(), call->given->end(), (*call->used)[at]) == call->given->end())
      return fail("an aliased argument is not donated");
    call->inPlace->push_back({static_cast<size_t>(result), at});
  }
  return true;
}

static bool readPlaced(CompiledCallObject *call) {
  *call->placed = *call->used;
  for (const Output &output : *call->results)
    if (output.kind == OutputKind::Argument || output.kind == OutputKind::View)
      call->placed->push_back(output.index);
  call->returnsLeaves = call->placed->size() > call->used->size();
  std::copy_if(call->placed->begin(), call->placed->end(), std::back_inserter(*call->kept), [&](size_t leaf) {
    return std::find(call->given->begin(), call->given->end(), leaf) == call->given->end();
  });
  return true;
}

/// False with an exception set. Everything the hot path relies on is checked here.
static bool readCall(CompiledCallObject *call) {
  call->loaded = nullptr;
  if (call->executable != Py_None) {
    LoadedExecutable *loaded = loadedExecutable(call->executable);
    if (!loaded)
      return false;
    call->loaded = loaded->executable.get();
    if (call->loaded->isUnbound())
      return fail("the executable is of a program with symbols: bind it to their sizes");
  }
  if (!isTree(call->outTree))
    return fail("out_tree is not a PyTreeDef");
  for (PyObject *tuple : {call->inUsed, call->outputs, call->outAvals, call->consts, call->donated, call->aliases})
    if (!PyTuple_Check(tuple))
      return fail("in_used, outputs, out_avals, consts, donated and aliases must be tuples");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->outAvals); ++i) {
    PyObject *aval = PyTuple_GET_ITEM(call->outAvals, i);
    if (!isAval(aval) || !reinterpret_cast<AvalObject *>(aval)->isConcrete())
      return fail("out_avals must be concrete ShapedArrays");
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->consts); ++i)
    if (!isArray(PyTuple_GET_ITEM(call->consts, i)))
      return fail("consts must be Arrays");
  if (!call->loaded && PyTuple_GET_SIZE(call->outAvals) > 0)
    return fail("results without an executable");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->outputs); ++i)
    if (!readOutput(call, PyTuple_GET_ITEM(call->outputs, i)))
      return false;
  if (PyTuple_GET_SIZE(call->outputs) != reinterpret_cast<TreeObject *>(call->outTree)->leafCount)
    return fail("out_tree has another number of leaves than outputs");
  if (call->device != Py_None && !(call->place = deviceOf(call->device)))
    return false;
  return readLeaves(call, call->inUsed, *call->used) && readLeaves(call, call->donated, *call->given) &&
         readAliases(call) && readPlaced(call);
}

PyObject *pcrt::python::newCompiledCall(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"executable", "in_used", "outputs", "out_avals",  "out_tree",  "consts", "donated",
                                "aliases",    "device",  "copying", "capability", "elsewhere", nullptr};
  PyObject *executable, *inUsed, *outputs, *outAvals, *outTree,
      *consts = nullptr, *donated = nullptr, *aliases = nullptr, *device = Py_None, *copying = Py_None,
      *capability = nullptr, *elsewhere = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO|OOOOOUO:CompiledCall", const_cast<char **>(names), &executable,
                                   &inUsed, &outputs, &outAvals, &outTree, &consts, &donated, &aliases, &device,
                                   &copying, &capability, &elsewhere))
    return nullptr;
  PyRef none = PyRef::steal(PyTuple_New(0)), ofHost = PyRef::steal(PyUnicode_FromString(""));
  PyRef self = PyRef::steal(type->tp_alloc(type, 0));
  if (!self || !none || !ofHost)
    return nullptr;
  CompiledCallObject *call = asCall(self.get());
  call->executable = Py_NewRef(executable);
  call->inUsed = Py_NewRef(inUsed);
  call->outputs = Py_NewRef(outputs);
  call->outAvals = Py_NewRef(outAvals);
  call->outTree = Py_NewRef(outTree);
  call->consts = Py_NewRef(consts ? consts : none.get());
  call->donated = Py_NewRef(donated ? donated : none.get());
  call->aliases = Py_NewRef(aliases ? aliases : none.get());
  call->device = Py_NewRef(device);
  call->capability = Py_NewRef(capability ? capability : ofHost.get());
  call->copying = copying == Py_None ? nullptr : Py_NewRef(copying);
  call->elsewhere = elsewhere == Py_None ? nullptr : Py_NewRef(elsewhere);
  call->others = new std::vector<CallElsewhere>();
  call->used = new std::vector<size_t>();
  call->inPlace = new std::vector<Alias>();
  call->given = new std::vector<size_t>();
  call->results = new std::vector<Output>();
  call->returnsLeaves = false;
  call->leavesNeeded = 0;
  call->place = nullptr;
  call->placed = new std::vector<size_t>();
  call->kept = new std::vector<size_t>();
  call->copies = new ConstantCopies();
  return readCall(call) ? self.take() : nullptr;
}

int pcrt::python::traverseCompiledCall(PyObject *self, visitproc visit, void *arg) {
  CompiledCallObject *call = asCall(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(call->executable);
  Py_VISIT(call->inUsed);
  Py_VISIT(call->outputs);
  Py_VISIT(call->outAvals);
  Py_VISIT(call->outTree);
  Py_VISIT(call->consts);
  Py_VISIT(call->donated);
  Py_VISIT(call->aliases);
  Py_VISIT(call->copying);
  Py_VISIT(call->elsewhere);
  if (call->others)
    for (const CallElsewhere &other : *call->others)
      Py_VISIT(other.call);
  return 0;
}

void pcrt::python::deallocateCompiledCall(PyObject *self) {
  PyObject_GC_UnTrack(self);
  CompiledCallObject *call = asCall(self);
  delete call->used;
  delete call->given;
  delete call->inPlace;
  delete call->results;
  delete call->placed;
  delete call->kept;
  delete call->copies;
  if (call->others)
    for (const CallElsewhere &other : *call->others)
      Py_DECREF(other.call);
  delete call->others;
  for (PyObject *part : {call->executable, call->inUsed, call->outputs, call->outAvals, call->outTree, call->consts,
                         call->donated, call->aliases, call->device, call->copying, call->capability, call->elsewhere})
    Py_XDECREF(part);
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// Compiles a call that is new, and explains calls that fail.
#include "call/JitMiss.h"

#include "array/DevicePlacement.h"
#include "call/Call.h"

using namespace pcrt;
using namespace pcrt::python;

static PyTypeObject *callKeyType = nullptr;

//===-- Errors ----------------------------------------------------------------------------------------------------===//

static PyRef functionName(JitObject *jit) {
  PyRef name = PyRef::steal(PyObject_GetAttrString(jit->fun, "__name__"));
  if (name && PyUnicode_Check(name.get()))
    return name;
  PyErr_Clear();
  return PyRef::steal(PyObject_Repr(jit->fun));
}

/// The name of a positional parameter; null (no exception) if the signature does not have it.
static PyRef parameterName(PyObject *fun, Py_ssize_t number) {
  PyRef inspect = PyRef::steal(PyImport_ImportModule("inspect"));
  PyRef signature = inspect ? PyRef::steal(PyObject_CallMethod(inspect.get(), "signature", "O", fun)) : PyRef();
  PyRef parameters = signature ? PyRef::steal(PyObject_GetAttrString(signature.get(), "parameters")) : PyRef();
  PyRef values = parameters ? PyRef::steal(PySequence_List(parameters.get())) : PyRef();
  PyErr_Clear();
  if (!values || number >= PyList_GET_SIZE(values.get()))
    return nullptr;
  return PyRef::borrow(PyList_GET_ITEM(values.get(), number));
}

/// "f: argument 'x'".
PyRef CallReader::describe(PyObject *name, Py_ssize_t number) const {
  PyRef function = functionName(jit);
  PyRef parameter = name ? PyRef::borrow(name) : parameterName(jit->fun, number);
  if (!function)
    return nullptr;
  if (parameter)
    return PyRef::steal(PyUnicode_FromFormat("%U: argument '%U'", function.get(), parameter.get()));
  return PyRef::steal(PyUnicode_FromFormat("%U: argument %zd", function.get(), number));
}

/// Adds the argument, and the position in it, to the current TypeError or ValueError.
void CallReader::explainLeaf(PyObject *value, PyObject *name, Py_ssize_t number, size_t leafNumber) const {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  PyRef cause = PyRef::steal(error);
  PyRef given = PyRef::steal(type);
  // A ValueError stays one, and a class that is both stays that class.
  bool isBoth =
      PyErr_GivenExceptionMatches(type, PyExc_ValueError) && PyErr_GivenExceptionMatches(type, PyExc_TypeError);
  PyObject *kind = type == PyExc_ValueError || isBoth ? type : PyExc_TypeError;
  Py_XDECREF(traceback);
  std::string path = leafPath(value, leafNumber);
  if (PyRef where = describe(name, number))
    PyErr_Format(kind, "%U%s%s: %S", where.get(), path.empty() ? "" : ", at ", path.c_str(), cause.get());
}

//===-- A miss ----------------------------------------------------------------------------------------------------===//

namespace {
/// The Python objects that describe a call: made on a miss only.
struct CallDescription {
  PyRef args, kwargs; // as passed
  PyRef key;

  bool make(const CallReader &reader, const Arguments &arguments);

private:
  bool addPositional(const CallReader &reader, const Arguments &arguments, PyObject *dynamic, PyObject *statics);
  bool addKeywords(const CallReader &reader, const Arguments &arguments, PyObject *dynamic, PyObject *statics);
};
} // namespace

bool CallDescription::addPositional(const CallReader &reader, const Arguments &arguments, PyObject *dynamic,
                                    PyObject *statics) {
  for (Py_ssize_t i = 0; i < arguments.positional; ++i) {
    PyObject *value = arguments.values[i];
    PyTuple_SET_ITEM(args.get(), i, Py_NewRef(value));
    if (!reader.isStaticNumber(i)) {
      if (PyList_Append(dynamic, value) < 0)
        return false;
      continue;
    }
    PyRef pair = PyRef::steal(Py_BuildValue("(nO)", i, value));
    if (!pair || PyList_Append(statics, pair.get()) < 0)
      return false;
  }
  return true;
}

bool CallDescription::addKeywords(const CallReader &reader, const Arguments &arguments, PyObject *dynamic,
                                  PyObject *statics) {
  for (Py_ssize_t i = 0; i < arguments.keywords(); ++i) {
    Py_ssize_t sorted = reader.sortedKeyword(static_cast<size_t>(i));
    PyObject *name = arguments.keyword(sorted), *value = arguments.keywordValue(sorted);
    int isStatic = reader.isStaticName(name);
    if (isStatic < 0 || PyDict_SetItem(kwargs.get(), name, value) < 0)
      return false;
    if (!isStatic) {
      if (PyDict_SetItem(dynamic, name, value) < 0)
        return false;
      continue;
    }
    PyRef pair = PyRef::steal(PyTuple_Pack(2, name, value));
    if (!pair || PyList_Append(statics, pair.get()) < 0)
      return false;
  }
  return true;
}

bool CallDescription::make(const CallReader &reader, const Arguments &arguments) {
  args = PyRef::steal(PyTuple_New(arguments.positional));
  kwargs = PyRef::steal(PyDict_New());
  PyRef dynamicArgs = PyRef::steal(PyList_New(0)), dynamicKwargs = PyRef::steal(PyDict_New());
  PyRef staticArgs = PyRef::steal(PyList_New(0)), staticKwargs = PyRef::steal(PyList_New(0));
  key = PyRef::steal(PyStructSequence_New(callKeyType));
  if (!args || !kwargs || !dynamicArgs || !dynamicKwargs || !staticArgs || !staticKwargs || !key ||
      !addPositional(reader, arguments, dynamicArgs.get(), staticArgs.get()) ||
      !addKeywords(reader, arguments, dynamicKwargs.get(), staticKwargs.get()))
    return false;
  PyRef dynamicTuple = PyRef::steal(PyList_AsTuple(dynamicArgs.get()));
  PyRef both = dynamicTuple ? PyRef::steal(PyTuple_Pack(2, dynamicTuple.get(), dynamicKwargs.get())) : PyRef();
  PyRef leaves;
  PyRef whole = both ? PyRef::steal(flattenToTree(both.get(), nullptr, leaves, /*hidesNothing=*/true)) : PyRef();
  PyObject *tree = whole ? snapshotTree(whole.get()) : nullptr;
  PyObject *avals = PyTuple_New(static_cast<Py_ssize_t>(reader.sink.leaves.size()));
  for (size_t i = 0; avals && i < reader.sink.leaves.size(); ++i)
    PyTuple_SET_ITEM(avals, static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject *>(reader.sink.leaves[i]->aval)));
  PyObject *parts[] = {tree, avals, PyList_AsTuple(staticArgs.get()), PyList_AsTuple(staticKwargs.get()),
                       Py_NewRef(contextKey())};
  bool complete = true;
  for (Py_ssize_t i = 0; i < 5; ++i) {
    complete = complete && parts[i];
    PyStructSequence_SetItem(key.get(), i, parts[i]);
  }
  return complete;
}

PyRef pcrt::python::compileCall(JitObject *jit, const CallReader &reader, const Arguments &arguments) {
  CallDescription description;
  if (!description.make(reader, arguments))
    return nullptr;
  Py_XSETREF(jit->lastMiss, Py_NewRef(description.key.get()));
  PyRef call = PyRef::steal(PyObject_CallFunctionObjArgs(jit->miss, description.args.get(), description.kwargs.get(),
                                                         description.key.get(), nullptr));
  if (!call)
    return nullptr;
  if (!PyCallable_Check(call.get())) {
    PyErr_Format(PyExc_TypeError, "miss returned %R, neither a CompiledCall nor callable", Py_TYPE(call.get()));
    return nullptr;
  }
  if (isCompiledCall(call.get()) &&
      leavesNeeded(reinterpret_cast<CompiledCallObject *>(call.get())) > reader.sink.leaves.size()) {
    PyErr_SetString(PyExc_ValueError, "miss returned a CompiledCall that needs more leaves than the call has");
    return nullptr;
  }
  // Another thread, or a nested call, may have compiled the same meanwhile: keep the first.
  const auto &words = reader.sink.words;
  if (PyObject *earlier = jit->cache->find(words.data(), words.size(), reader.hash))
    return PyRef::borrow(earlier);
  if (PyErr_Occurred())
    return nullptr;
  bool isKept = jit->cache->insert(words.data(), words.size(), reader.hash, description.key, call, reader.isHashable);
  return isKept ? call : nullptr;
}

//===-- Operands on different devices -----------------------------------------------------------------------------===//

/// leaf_namer(fun, key, static_argnums) -> the names of the dynamic leaves.
static PyObject *leafNamer = nullptr;

static PyRef leafNames(JitObject *jit, const CallDescription &description) {
  const std::vector<Py_ssize_t> &numbers = *jit->staticNumbers;
  PyRef statics = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (size_t i = 0; statics && i < numbers.size(); ++i)
    PyTuple_SET_ITEM(statics.get(), static_cast<Py_ssize_t>(i), PyLong_FromSsize_t(numbers[i]));
  if (!statics || !leafNamer)
    return nullptr;
  PyRef names =
      PyRef::steal(PyObject_CallFunctionObjArgs(leafNamer, jit->fun, description.key.get(), statics.get(), nullptr));
  return names ? PyRef::steal(PySequence_Tuple(names.get())) : nullptr;
}

void pcrt::python::nameConflict(JitObject *jit, const CallReader &reader, const Arguments &arguments) {
  Conflict conflict = takeConflict();
  if (!conflict.isSet)
    return;
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  CallDescription description;
  PyRef function = functionName(jit);
  PyRef names = description.make(reader, arguments) ? leafNames(jit, description) : nullptr;
  auto nameOf = [&](size_t number) -> PyRef {
    if (!names || number >= static_cast<size_t>(PyTuple_GET_SIZE(names.get())))
      return nullptr;
    return PyRef::steal(
        PyUnicode_FromFormat("argument '%S'", PyTuple_GET_ITEM(names.get(), static_cast<Py_ssize_t>(number))));
  };
  PyRef first = nameOf(conflict.first), second = nameOf(conflict.second);
  const char *name = function ? PyUnicode_AsUTF8(function.get()) : nullptr;
  PyErr_Clear();
  if (!first || !second || !name) {
    PyErr_Restore(type, error, traceback);
    return;
  }
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
  raiseConflict(name, first.get(), reader.sink.leaves[conflict.first], second.get(),
                reader.sink.leaves[conflict.second]);
}

static PyObject *setLeafNamer(PyObject *, PyObject *function) {
  Py_XSETREF(leafNamer, Py_NewRef(function));
  Py_RETURN_NONE;
}

//===-- Registration ----------------------------------------------------------------------------------------------===//

static PyStructSequence_Field callKeyFields[] = {
    {"in_tree", "The tree of the dynamic (args, kwargs)."},    {"avals", "The avals of its leaves."},
    {"static_args", "Pairs of a position and a value."},       {"static_kwargs", "Pairs of a name and a value."},
    {"context", "The configuration that is part of the key."}, {}};

static PyStructSequence_Desc callKeySpec = {"pycompiler._runtime.CallKey", "The key of a jitted function's cache.",
                                            callKeyFields, 5};

static PyMethodDef missFunctions[] = {
    {"set_leaf_namer", setLeafNamer, METH_O,
     "Set the function that names the leaves of a call: namer(fun, key, static_argnums)."},
    {}};

bool pcrt::python::addJitMiss(PyObject *module) {
  callKeyType = PyStructSequence_NewType(&callKeySpec);
  return callKeyType && PyModule_AddType(module, callKeyType) == 0 && PyModule_AddFunctions(module, missFunctions) == 0;
}

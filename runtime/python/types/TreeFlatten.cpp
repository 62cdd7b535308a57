// Flattens containers into words and leaves; the registry of node types.
#include "types/TreeWords.h"

#include "types/Ndarray.h"

#include <unordered_map>

using namespace pcrt::python;

//===-- Registry
//----------------------------------------------------------------------------------------------------===//

namespace {
struct Registration {
  NodeKind kind;
  NodeFunctions functions;
};
} // namespace

/// Node types in addition to tuple, list, dict and None; owned, never freed.
static std::unordered_map<PyTypeObject *, Registration> &registry() {
  static auto *const types = new std::unordered_map<PyTypeObject *, Registration>();
  return *types;
}

const NodeFunctions *pcrt::python::customNode(PyTypeObject *type) {
  auto found = registry().find(type);
  return found == registry().end() ? nullptr : &found->second.functions;
}

NodeKind pcrt::python::kindOfType(PyTypeObject *type) {
  if (type == &PyTuple_Type)
    return NodeKind::Tuple;
  if (type == &PyList_Type)
    return NodeKind::List;
  if (type == &PyDict_Type)
    return NodeKind::Dict;
  if (type == Py_TYPE(Py_None))
    return NodeKind::None;
  auto found = registry().find(type);
  if (found != registry().end())
    return found->second.kind;
  PyObject *object = reinterpret_cast<PyObject *>(type);
  bool isNamed = PyType_IsSubtype(type, &PyTuple_Type) && PyObject_HasAttrString(object, "_fields");
  return isNamed ? NodeKind::NamedTuple : NodeKind::Leaf;
}

static PyObject *registerNode(PyObject *, PyObject *args) {
  PyObject *type, *toIter, *fromIter;
  if (!PyArg_ParseTuple(args, "O!OO:register_node", &PyType_Type, &type, &toIter, &fromIter))
    return nullptr;
  auto *key = reinterpret_cast<PyTypeObject *>(type);
  if (key == &PyTuple_Type || key == &PyList_Type || key == &PyDict_Type || key == Py_TYPE(Py_None) ||
      registry().count(key)) {
    PyErr_Format(PyExc_ValueError, "register_node: %R is a node already", type);
    return nullptr;
  }
  Py_INCREF(type);
  registry()[key] = {NodeKind::Custom, {Py_NewRef(toIter), Py_NewRef(fromIter)}};
  Py_RETURN_NONE;
}

static bool registerCollection(const char *name, NodeKind kind) {
  PyRef module = PyRef::steal(PyImport_ImportModule("collections"));
  PyRef type = module ? PyRef::steal(PyObject_GetAttrString(module.get(), name)) : PyRef();
  if (!type)
    return false;
  registry()[reinterpret_cast<PyTypeObject *>(type.take())] = {kind, {nullptr, nullptr}};
  return true;
}

//===-- Flattening
//--------------------------------------------------------------------------------------------------===//

static bool flattenNode(PyObject *tree, TreeSink &sink);

bool pcrt::python::flatten(PyObject *tree, TreeSink &sink) {
  if (Py_EnterRecursiveCall(" while flattening a tree"))
    return false;
  bool done = flattenNode(tree, sink);
  Py_LeaveRecursiveCall();
  return done;
}

static bool flattenSequence(NodeKind kind, PyObject *sequence, TreeSink &sink) {
  // Read the size again each time: flattening a leaf may run Python code that shortens a list.
  Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
  sink.word(Word::header(kind, static_cast<size_t>(count)));
  if (kind == NodeKind::NamedTuple)
    sink.word(Word::identity(Py_TYPE(sequence)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i >= PySequence_Fast_GET_SIZE(sequence)) {
      PyErr_SetString(PyExc_RuntimeError, "a list changed while it was being flattened");
      return false;
    }
    PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
    if (kind == NodeKind::List)
      sink.keep(Py_NewRef(item));
    if (!flatten(item, sink))
      return false;
  }
  return true;
}

static bool alreadySorted(PyObject *keys) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); ++i) {
    PyObject *key = PyList_GET_ITEM(keys, i);
    if (!PyUnicode_CheckExact(key) || (i > 0 && PyUnicode_Compare(PyList_GET_ITEM(keys, i - 1), key) > 0))
      return false;
  }
  return true;
}

static bool flattenDict(NodeKind kind, PyObject *dict, TreeSink &sink) {
  PyObject *keys = PyDict_Keys(dict);
  if (!keys)
    return false;
  sink.keep(keys);
  if (kind != NodeKind::OrderedDict && !alreadySorted(keys) && PyList_Sort(keys) < 0) {
    PyErr_Format(PyExc_ValueError, "the keys of a dict in a tree cannot be sorted: %R", keys);
    return false;
  }
  Py_ssize_t count = PyList_GET_SIZE(keys);
  sink.word(Word::header(kind, static_cast<size_t>(count)));
  if (kind == NodeKind::DefaultDict) {
    PyObject *factory = PyObject_GetAttrString(dict, "default_factory");
    if (!factory)
      return false;
    sink.keep(factory);
    sink.word(Word::value(factory));
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    sink.word(Word::value(PyList_GET_ITEM(keys, i)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = PyDict_GetItemWithError(dict, PyList_GET_ITEM(keys, i));
    if (!item) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a dict changed while it was being flattened");
      return false;
    }
    sink.keep(Py_NewRef(item));
    if (!flatten(item, sink))
      return false;
  }
  return true;
}

static bool flattenCustom(PyObject *tree, const NodeFunctions &functions, TreeSink &sink) {
  PyObject *parts = PyObject_CallOneArg(functions.toIter, tree);
  if (!parts)
    return false;
  sink.keep(parts);
  if (!PyTuple_Check(parts) || PyTuple_GET_SIZE(parts) != 2) {
    PyErr_Format(PyExc_ValueError, "the node function of %R must return (children, aux), not %R", Py_TYPE(tree), parts);
    return false;
  }
  PyObject *given = PyTuple_GET_ITEM(parts, 0);
  PyRef iterator = PyTuple_CheckExact(given) ? PyRef::borrow(given) : PyRef::steal(PyObject_GetIter(given));
  if (!iterator) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_ValueError,
                   "the node function of %R must return (children, aux) with an iterable of children, "
                   "not %R",
                   Py_TYPE(tree), given);
    return false;
  }
  PyObject *children = PyTuple_CheckExact(given) ? Py_NewRef(given) : PySequence_Tuple(iterator.get());
  if (!children)
    return false;
  sink.keep(children);
  Py_ssize_t count = PyTuple_GET_SIZE(children);
  sink.word(Word::header(NodeKind::Custom, static_cast<size_t>(count)));
  sink.word(Word::identity(Py_TYPE(tree)));
  sink.word(Word::value(PyTuple_GET_ITEM(parts, 1)));
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!flatten(PyTuple_GET_ITEM(children, i), sink))
      return false;
  return true;
}

static bool isNamedTuple(PyObject *tree) {
  if (!PyTuple_Check(tree))
    return false;
  static PyObject *const fields = PyUnicode_InternFromString("_fields");
  PyRef found = PyRef::steal(PyObject_GetAttr(tree, fields));
  if (!found)
    PyErr_Clear();
  return static_cast<bool>(found);
}

static bool flattenNode(PyObject *tree, TreeSink &sink) {
  if (int asLeaf = sink.isLeaf(tree))
    return asLeaf > 0 && sink.leaf(tree);
  PyTypeObject *type = Py_TYPE(tree);
  if (type == &PyTuple_Type)
    return flattenSequence(NodeKind::Tuple, tree, sink);
  if (type == &PyList_Type)
    return flattenSequence(NodeKind::List, tree, sink);
  if (type == &PyDict_Type)
    return flattenDict(NodeKind::Dict, tree, sink);
  if (tree == Py_None) {
    sink.word(Word::header(NodeKind::None, 0));
    return true;
  }
  auto found = registry().find(type);
  if (found != registry().end()) {
    if (found->second.kind == NodeKind::Custom)
      return flattenCustom(tree, found->second.functions, sink);
    return flattenDict(found->second.kind, tree, sink);
  }
  if (isNamedTuple(tree))
    return flattenSequence(NodeKind::NamedTuple, tree, sink);
  return sink.leaf(tree);
}

//===-- Arrays that hold nothing
//------------------------------------------------------------------------------------===//

/// Their dtype, and the registered type that replaces them; null until set_nothing.
static PyObject *nothingDtype = nullptr, *nothingType = nullptr;

bool pcrt::python::isNothing(PyObject *object) {
  if (!nothingDtype || Py_TYPE(object) != ndarrayType())
    return false;
  PyRef dtype = PyRef::steal(PyObject_GetAttrString(object, "dtype"));
  int equal = dtype ? PyObject_RichCompareBool(dtype.get(), nothingDtype, Py_EQ) : -1;
  if (equal < 0)
    PyErr_Clear();
  return equal > 0;
}

bool pcrt::python::flattenNothing(PyObject *array, TreeSink &sink) {
  PyObject *shape = PyObject_GetAttrString(array, "shape");
  if (!shape)
    return false;
  sink.keep(shape);
  sink.word(Word::header(NodeKind::Custom, 0));
  sink.word(Word::identity(nothingType));
  sink.word(Word::value(shape));
  return true;
}

bool pcrt::python::flattenNothingInstead(PyObject *object, TreeSink &sink) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  if (!isNothing(object)) {
    PyErr_Restore(type, error, traceback);
    return false;
  }
  for (PyObject *part : {type, error, traceback})
    Py_XDECREF(part);
  return flattenNothing(object, sink);
}

static PyObject *setNothing(PyObject *, PyObject *args) {
  PyObject *dtype, *type;
  if (!PyArg_ParseTuple(args, "OO!:set_nothing", &dtype, &PyType_Type, &type))
    return nullptr;
  Py_XSETREF(nothingDtype, Py_NewRef(dtype));
  Py_XSETREF(nothingType, Py_NewRef(type));
  Py_RETURN_NONE;
}

//===-- Words
//-------------------------------------------------------------------------------------------------------===//

size_t pcrt::python::extraWords(Word header) {
  switch (header.kind()) {
  case NodeKind::Leaf:
  case NodeKind::None:
  case NodeKind::Tuple:
  case NodeKind::List:
    return 0;
  case NodeKind::Dict:
  case NodeKind::OrderedDict:
    return header.arity();
  case NodeKind::DefaultDict:
    return header.arity() + 1;
  case NodeKind::NamedTuple:
    return 1;
  case NodeKind::Custom:
  case NodeKind::Static:
    return 2;
  }
  return 0;
}

bool pcrt::python::hashWord(Word word, uint64_t &hash, bool &isHashable) {
  uint64_t bits = word.raw();
  if (!word.isHeader() && word.isValue()) {
    Py_hash_t value = PyObject_Hash(word.object());
    if (value == -1) {
      if (!PyErr_ExceptionMatches(PyExc_Exception))
        return false;
      PyErr_Clear();
      isHashable = false;
      value = static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(Py_TYPE(word.object())));
    }
    bits = static_cast<uint64_t>(value);
  }
  hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  return true;
}

/// equal(a, b) and copy(x) for data without a usable == and hash; null until set_data_functions.
static PyObject *dataEqual = nullptr, *dataCopy = nullptr;

/// Whether a true result of == on two such values is sufficient: arrays in containers are compared element by element,
/// and broadcast.
static bool isTrusted(PyObject *object) {
  if (PyList_CheckExact(object) || PyDict_CheckExact(object))
    return false;
  if (!PyTuple_CheckExact(object) || PyObject_Hash(object) != -1)
    return true;
  PyErr_Clear();
  return false;
}

static int equalValues(PyObject *a, PyObject *b) {
  if (a == b)
    return 1;
  PyRef answer = PyRef::steal(PyObject_RichCompare(a, b, Py_EQ));
  if (answer.get() == Py_False)
    return 0;
  if (answer.get() == Py_True && isTrusted(a))
    return 1;
  if (!answer && !PyErr_ExceptionMatches(PyExc_Exception))
    return -1;
  if (!dataEqual)
    return answer ? PyObject_IsTrue(answer.get()) : -1;
  PyErr_Clear();
  answer = PyRef::steal(PyObject_CallFunctionObjArgs(dataEqual, a, b, nullptr));
  return answer ? PyObject_IsTrue(answer.get()) : -1;
}

int pcrt::python::equalWords(const Word *a, const Word *b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i] == b[i])
      continue;
    if (a[i].isHeader() || b[i].isHeader() || !a[i].isValue() || !b[i].isValue())
      return 0;
    int equal = equalValues(a[i].object(), b[i].object());
    if (equal <= 0)
      return equal;
  }
  return 1;
}

bool pcrt::python::snapshotWords(Word *words, size_t count, std::vector<PyRef> &copies) {
  for (size_t i = 0; i < count; ++i) {
    bool isHashable = true;
    uint64_t hash = 0;
    if (words[i].isHeader() || !words[i].isValue())
      continue;
    if (!hashWord(words[i], hash, isHashable))
      return false;
    if (isHashable || !dataCopy)
      continue;
    PyRef copy = PyRef::steal(PyObject_CallOneArg(dataCopy, words[i].object()));
    if (!copy)
      return false;
    words[i] = Word::value(copy.get());
    copies.push_back(std::move(copy));
  }
  return true;
}

static PyObject *setDataFunctions(PyObject *, PyObject *args) {
  PyObject *equal, *copy;
  if (!PyArg_ParseTuple(args, "OO:set_data_functions", &equal, &copy))
    return nullptr;
  Py_XSETREF(dataEqual, Py_NewRef(equal));
  Py_XSETREF(dataCopy, Py_NewRef(copy));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"register_node", registerNode, METH_VARARGS,
     "register_node(type, to_iter, from_iter)\n--\n\nMake instances of a type nodes of trees."},
    {"set_nothing", setNothing, METH_VARARGS,
     "set_nothing(dtype, type)\n--\n\nSet the dtype of arrays that hold nothing, and the node that stands for them."},
    {"set_data_functions", setDataFunctions, METH_VARARGS,
     "set_data_functions(equal, copy)\n--\n\nSet the functions that compare and copy data without a usable == or "
     "hash."},
    {}};

bool pcrt::python::registerTreeNodes(PyObject *module) {
  return registerCollection("OrderedDict", NodeKind::OrderedDict) &&
         registerCollection("defaultdict", NodeKind::DefaultDict) && PyModule_AddFunctions(module, functions) == 0;
}

// Takes PyTreeDefs apart and assembles them: the data of the root, structures of structures, walks, copies, pickles.
#include "types/Tree.h"

using namespace pcrt::python;

static TreeObject *asTree(PyObject *object) { return reinterpret_cast<TreeObject *>(object); }

//===-- The root --------------------------------------------------------------------------------------------------===//

static PyRef keysOf(const Word *keys, size_t count) {
  PyRef result = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; result && i < count; ++i)
    PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), Py_NewRef(keys[i].object()));
  return result;
}

/// The data of a node besides its children; None if there is none. As in JAX.
static PyRef dataOf(const Word *node) {
  switch (node->kind()) {
  case NodeKind::Dict: {
    PyRef keys = keysOf(node + 1, node->arity());
    return keys ? PyRef::steal(PySequence_List(keys.get())) : nullptr;
  }
  case NodeKind::OrderedDict:
    return keysOf(node + 1, node->arity());
  case NodeKind::DefaultDict: {
    PyRef keys = keysOf(node + 2, node->arity());
    return keys ? PyRef::steal(PyTuple_Pack(2, node[1].object(), keys.get())) : nullptr;
  }
  case NodeKind::Custom:
    return PyRef::borrow(node[2].object());
  default:
    return PyRef::borrow(Py_None);
  }
}

static PyRef collection(const char *name) {
  PyRef module = PyRef::steal(PyImport_ImportModule("collections"));
  return module ? PyRef::steal(PyObject_GetAttrString(module.get(), name)) : nullptr;
}

static PyRef typeOf(const Word *node) {
  auto of = [](PyTypeObject *type) { return PyRef::borrow(reinterpret_cast<PyObject *>(type)); };
  switch (node->kind()) {
  case NodeKind::None:
    return of(Py_TYPE(Py_None));
  case NodeKind::Tuple:
    return of(&PyTuple_Type);
  case NodeKind::List:
    return of(&PyList_Type);
  case NodeKind::Dict:
    return of(&PyDict_Type);
  case NodeKind::OrderedDict:
    return collection("OrderedDict");
  case NodeKind::DefaultDict:
    return collection("defaultdict");
  case NodeKind::NamedTuple:
  case NodeKind::Custom:
    return PyRef::borrow(node[1].object());
  case NodeKind::Leaf:
  case NodeKind::Static:
    break;
  }
  return PyRef::borrow(Py_None);
}

static PyObject *nodeData(PyObject *self, PyObject *) {
  const Word *root = asTree(self)->words->data();
  if (root->kind() == NodeKind::Leaf)
    Py_RETURN_NONE;
  PyRef type = typeOf(root), data = type ? dataOf(root) : nullptr;
  return data ? PyTuple_Pack(2, type.get(), data.get()) : nullptr;
}

//===-- Putting together ------------------------------------------------------------------------------------------===//

/// The keys of a new dict, one for each child.
static bool pushKeys(PyObject *keys, Py_ssize_t count, std::vector<Word> &words) {
  if (PyTuple_GET_SIZE(keys) != count) {
    PyErr_Format(PyExc_ValueError, "a dict of %zd keys can't be made of %zd children", PyTuple_GET_SIZE(keys), count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    words.push_back(Word::value(PyTuple_GET_ITEM(keys, i)));
  return true;
}

/// The words of a node itself. `kept` owns the objects that they point to.
static bool pushNode(PyTypeObject *type, PyObject *data, Py_ssize_t count, std::vector<Word> &words,
                     std::vector<PyRef> &kept) {
  NodeKind kind = kindOfType(type);
  words.push_back(Word::header(kind, static_cast<size_t>(count)));
  switch (kind) {
  case NodeKind::DefaultDict:
    if (!PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
      PyErr_SetString(PyExc_TypeError, "the data of a defaultdict is (factory, keys)");
      return false;
    }
    words.push_back(Word::value(PyTuple_GET_ITEM(data, 0)));
    data = PyTuple_GET_ITEM(data, 1);
    [[fallthrough]];
  case NodeKind::Dict:
  case NodeKind::OrderedDict: {
    PyRef keys = PyRef::steal(PySequence_Tuple(data));
    if (!keys || !pushKeys(keys.get(), count, words))
      return false;
    kept.push_back(std::move(keys));
    return true;
  }
  case NodeKind::NamedTuple:
    words.push_back(Word::identity(type));
    return true;
  case NodeKind::Custom:
    words.push_back(Word::identity(type));
    words.push_back(Word::value(data));
    return true;
  case NodeKind::Leaf:
    PyErr_Format(PyExc_ValueError, "%R is no node: tuple, list, dict, None, namedtuples and registered types are",
                 reinterpret_cast<PyObject *>(type));
    return false;
  default:
    return true;
  }
}

/// The structure of a leaf (node_data None), or of a node of (type, data) and its children's structures.
static PyObject *makeTree(PyObject *nodeData, PyObject *childrenGiven) {
  PyRef children = PyRef::steal(PySequence_Tuple(childrenGiven));
  if (!children)
    return nullptr;
  Py_ssize_t count = PyTuple_GET_SIZE(children.get());
  std::vector<Word> words;
  std::vector<PyRef> kept;
  if (nodeData == Py_None) {
    words.push_back(Word::header(NodeKind::Leaf, 0));
    if (count)
      return PyErr_Format(PyExc_ValueError, "a leaf has no children, got %zd", count);
  } else {
    if (!PyTuple_Check(nodeData) || PyTuple_GET_SIZE(nodeData) != 2 || !PyType_Check(PyTuple_GET_ITEM(nodeData, 0)))
      return PyErr_Format(PyExc_TypeError, "node_data must be None or a pair of a type and its data, got %R", nodeData);
    auto *type = reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(nodeData, 0));
    if (!pushNode(type, PyTuple_GET_ITEM(nodeData, 1), count, words, kept))
      return nullptr;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *child = PyTuple_GET_ITEM(children.get(), i);
    if (!isTree(child))
      return PyErr_Format(PyExc_TypeError, "children must be PyTreeDefs, got %R", child);
    words.insert(words.end(), asTree(child)->words->begin(), asTree(child)->words->end());
  }
  return newTree(words.data(), words.size());
}

static PyObject *treeOfNode(PyObject *, PyObject *args) {
  PyObject *nodeData, *children;
  if (!PyArg_ParseTuple(args, "OO:treedef_of_node", &nodeData, &children))
    return nullptr;
  return makeTree(nodeData, children);
}

/// There is one registry: its argument is ignored.
static PyObject *fromNodeDataAndChildren(PyObject *, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"registry", "node_data", "children", nullptr};
  PyObject *registry, *nodeData, *children;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:from_node_data_and_children", const_cast<char **>(names),
                                   &registry, &nodeData, &children))
    return nullptr;
  return makeTree(nodeData, children);
}

static PyObject *compose(PyObject *self, PyObject *inner) {
  if (!isTree(inner))
    return PyErr_Format(PyExc_TypeError, "compose: takes a PyTreeDef, got %R", inner);
  const std::vector<Word> &below = *asTree(inner)->words;
  std::vector<Word> words;
  for (Word word : *asTree(self)->words)
    if (word == Word::header(NodeKind::Leaf, 0))
      words.insert(words.end(), below.begin(), below.end());
    else
      words.push_back(word);
  return newTree(words.data(), words.size());
}

//===-- Walks -----------------------------------------------------------------------------------------------------===//

/// The value of the node at `word`; advances to the next node.
static PyRef walkNode(const Word *&word, PyObject *onNode, PyObject *onLeaf, PyObject *leaves) {
  const Word *node = word;
  word += 1 + extraWords(*node);
  if (node->kind() == NodeKind::Leaf) {
    PyRef given = PyRef::steal(PyIter_Next(leaves));
    if (!given && !PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "walk: too few leaves for the structure");
    if (!given || onLeaf == Py_None)
      return given;
    return PyRef::steal(PyObject_CallOneArg(onLeaf, given.get()));
  }
  PyRef children = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(node->arity())));
  for (size_t i = 0; children && i < node->arity(); ++i) {
    PyRef child = walkNode(word, onNode, onLeaf, leaves);
    if (!child)
      return nullptr;
    PyTuple_SET_ITEM(children.get(), static_cast<Py_ssize_t>(i), child.take());
  }
  // As in JAX, which passes the type here, and None as the data of the node.
  bool isNamed = node->kind() == NodeKind::NamedTuple;
  PyRef data = !children ? nullptr : isNamed ? typeOf(node) : dataOf(node);
  return data ? PyRef::steal(PyObject_CallFunctionObjArgs(onNode, children.get(), data.get(), nullptr)) : nullptr;
}

static PyObject *walk(PyObject *self, PyObject *args) {
  PyObject *onNode, *onLeaf, *leaves;
  if (!PyArg_ParseTuple(args, "OOO:walk", &onNode, &onLeaf, &leaves))
    return nullptr;
  PyRef iterator = PyRef::steal(PyObject_GetIter(leaves));
  if (!iterator)
    return nullptr;
  const Word *word = asTree(self)->words->data();
  PyRef result = walkNode(word, onNode, onLeaf, iterator.get());
  PyRef rest = result ? PyRef::steal(PyIter_Next(iterator.get())) : nullptr;
  if (rest)
    PyErr_SetString(PyExc_ValueError, "walk: too many leaves for the structure");
  return PyErr_Occurred() ? nullptr : result.take();
}

/// The leaves below an iterable of iterables with the nesting of the structure.
static const Word *collectNested(const Word *node, PyObject *given, std::vector<PyRef> &leaves) {
  if (node->kind() == NodeKind::Leaf) {
    leaves.push_back(PyRef::borrow(given));
    return node + 1;
  }
  PyRef items = PyRef::steal(PySequence_Tuple(given));
  if (!items)
    return nullptr;
  if (PyTuple_GET_SIZE(items.get()) != static_cast<Py_ssize_t>(node->arity())) {
    PyErr_Format(PyExc_ValueError, "from_iterable_tree: %zd items for a node of %zu children: %R",
                 PyTuple_GET_SIZE(items.get()), node->arity(), given);
    return nullptr;
  }
  const Word *child = node + 1 + extraWords(*node);
  for (size_t i = 0; child && i < node->arity(); ++i)
    child = collectNested(child, PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), leaves);
  return child;
}

static PyObject *fromIterableTree(PyObject *self, PyObject *given) {
  std::vector<PyRef> leaves;
  if (!collectNested(asTree(self)->words->data(), given, leaves))
    return nullptr;
  std::vector<PyObject *> borrowed;
  for (const PyRef &leaf : leaves)
    borrowed.push_back(leaf.get());
  return unflatten(asTree(self), borrowed.data());
}

//===-- Copies ----------------------------------------------------------------------------------------------------===//

PyObject *pcrt::python::snapshotTree(PyObject *tree) {
  if (asTree(tree)->isHashable)
    return Py_NewRef(tree);
  std::vector<Word> words = *asTree(tree)->words;
  std::vector<PyRef> copies;
  return snapshotWords(words.data(), words.size(), copies) ? newTree(words.data(), words.size()) : nullptr;
}

static PyObject *snapshot(PyObject *self, PyObject *) { return snapshotTree(self); }

static PyObject *reduce(PyObject *self, PyObject *) {
  PyRef module = PyRef::steal(PyImport_ImportModule("pycompiler._runtime"));
  PyRef make = module ? PyRef::steal(PyObject_GetAttrString(module.get(), "treedef_of_node")) : nullptr;
  PyRef data = make ? PyRef::steal(nodeData(self, nullptr)) : nullptr;
  PyRef children = data ? PyRef::steal(PyObject_CallMethod(self, "children", nullptr)) : nullptr;
  return children ? Py_BuildValue("(O(OO))", make.get(), data.get(), children.get()) : nullptr;
}

//===-- The Python interface --------------------------------------------------------------------------------------===//

PyMethodDef pcrt::python::treePartMethods[] = {
    {"node_data", nodeData, METH_NOARGS, "The type of the root and its data; None for a leaf."},
    {"from_node_data_and_children", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(fromNodeDataAndChildren)),
     METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "from_node_data_and_children(registry, node_data, children)\n--\n\nThe structure of a root and its children's."},
    {"compose", compose, METH_O, "The structure with another one in the place of each leaf."},
    {"walk", walk, METH_VARARGS,
     "walk(f_node, f_leaf, leaves)\n--\n\nThe value of f_node(children, node_data) at nodes, f_leaf(leaf) at leaves."},
    {"from_iterable_tree", fromIterableTree, METH_O, "The tree of an iterable of iterables, nested as it is."},
    {"snapshot", snapshot, METH_NOARGS,
     "The structure with copies of the data that can't be hashed: a key of a cache."},
    {"__reduce__", reduce, METH_NOARGS, "How it is pickled."},
    {}};

static PyMethodDef functions[] = {
    {"treedef_of_node", treeOfNode, METH_VARARGS,
     "treedef_of_node(node_data, children)\n--\n\nThe structure of a root and its children's."},
    {}};

bool pcrt::python::addTreeParts(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

// PyTreeDef: the structure of a tree as a Python object.
#include "types/Tree.h"

using namespace pcrt::python;

PyTypeObject *pcrt::python::treeType = nullptr;

static TreeObject *asTree(PyObject *object) { return reinterpret_cast<TreeObject *>(object); }

//===-- Making
//------------------------------------------------------------------------------------------------------===//

PyObject *pcrt::python::newTree(const Word *words, size_t count) {
  uint64_t hash = count;
  bool isHashable = true;
  Py_ssize_t leaves = 0, nodes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!hashWord(words[i], hash, isHashable))
      return nullptr;
    nodes += words[i].isHeader();
    leaves += words[i] == Word::header(NodeKind::Leaf, 0);
  }
  auto *tree = PyObject_GC_New(TreeObject, treeType);
  if (!tree)
    return nullptr;
  tree->words = new std::vector<Word>(words, words + count);
  for (Word word : *tree->words)
    if (!word.isHeader())
      Py_INCREF(word.object());
  tree->leafCount = leaves;
  tree->nodeCount = nodes;
  tree->isHashable = isHashable;
  tree->hash = static_cast<Py_hash_t>(hash) == -1 ? -2 : static_cast<Py_hash_t>(hash);
  PyObject_GC_Track(tree);
  return reinterpret_cast<PyObject *>(tree);
}

static int traverseTree(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  for (Word word : *asTree(self)->words)
    if (!word.isHeader())
      Py_VISIT(word.object());
  return 0;
}

static void deallocateTree(PyObject *self) {
  PyObject_GC_UnTrack(self);
  for (Word word : *asTree(self)->words)
    if (!word.isHeader())
      Py_DECREF(word.object());
  delete asTree(self)->words;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

namespace {
/// Collects the leaves into a list, and the structure with a Leaf header for each.
class ListSink final : public TreeSink {
public:
  ListSink(PyObject *leaves, PyObject *predicate, bool hidesNothing)
      : leaves(leaves), predicate(predicate), hidesNothing(hidesNothing) {}

  bool leaf(PyObject *object) override {
    if (hidesNothing && isNothing(object))
      return flattenNothing(object, *this);
    word(Word::header(NodeKind::Leaf, 0));
    return PyList_Append(leaves, object) == 0;
  }
  int isLeaf(PyObject *object) override {
    if (!predicate)
      return 0;
    PyRef answer = PyRef::steal(PyObject_CallOneArg(predicate, object));
    return answer ? PyObject_IsTrue(answer.get()) : -1;
  }

private:
  PyObject *leaves, *predicate;
  bool hidesNothing;
};
} // namespace

PyObject *pcrt::python::flattenToTree(PyObject *tree, PyObject *isLeaf, PyRef &leaves, bool hidesNothing) {
  leaves = PyRef::steal(PyList_New(0));
  if (!leaves)
    return nullptr;
  ListSink sink(leaves.get(), isLeaf, hidesNothing);
  return flatten(tree, sink) ? newTree(sink.words.data(), sink.words.size()) : nullptr;
}

static PyObject *treeFlatten(PyObject *, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"tree", "is_leaf", nullptr};
  PyObject *tree, *isLeaf = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:tree_flatten", const_cast<char **>(names), &tree, &isLeaf))
    return nullptr;
  PyRef leaves;
  PyRef structure = PyRef::steal(flattenToTree(tree, isLeaf == Py_None ? nullptr : isLeaf, leaves));
  return structure ? PyTuple_Pack(2, leaves.get(), structure.get()) : nullptr;
}

//===-- Unflattening
//------------------------------------------------------------------------------------------------===//

namespace {
/// Reads a structure from front to back, and takes a leaf for each Leaf header.
class Builder {
public:
  Builder(const TreeObject *tree, PyObject *const *leaves) : word(tree->words->data()), leaf(leaves) {}

  PyObject *build() {
    Word header = *word++;
    switch (header.kind()) {
    case NodeKind::Leaf:
      return Py_NewRef(*leaf++);
    case NodeKind::None:
      Py_RETURN_NONE;
    case NodeKind::Tuple:
      return children(header.arity()).take();
    case NodeKind::List: {
      PyRef items = children(header.arity());
      return items ? PySequence_List(items.get()) : nullptr;
    }
    case NodeKind::Dict:
    case NodeKind::OrderedDict:
    case NodeKind::DefaultDict:
      return dict(header);
    case NodeKind::NamedTuple: {
      PyObject *type = (word++)->object();
      PyRef items = children(header.arity());
      return items ? PyObject_CallObject(type, items.get()) : nullptr;
    }
    case NodeKind::Custom: {
      auto *type = reinterpret_cast<PyTypeObject *>((word++)->object());
      PyObject *aux = (word++)->object();
      PyRef items = children(header.arity());
      return items ? PyObject_CallFunctionObjArgs(customNode(type)->fromIter, aux, items.get(), nullptr) : nullptr;
    }
    case NodeKind::Static:
      break;
    }
    return nullptr;
  }

private:
  PyRef children(size_t count) {
    PyRef items = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; items && i < count; ++i) {
      PyObject *child = build();
      if (!child)
        return nullptr;
      PyTuple_SET_ITEM(items.get(), static_cast<Py_ssize_t>(i), child);
    }
    return items;
  }

  PyObject *newDict(NodeKind kind) {
    if (kind == NodeKind::Dict)
      return PyDict_New();
    PyRef module = PyRef::steal(PyImport_ImportModule("collections"));
    if (!module)
      return nullptr;
    if (kind == NodeKind::OrderedDict)
      return PyObject_CallMethod(module.get(), "OrderedDict", nullptr);
    return PyObject_CallMethod(module.get(), "defaultdict", "O", (word++)->object());
  }

  PyObject *dict(Word header) {
    PyRef result = PyRef::steal(newDict(header.kind()));
    const Word *keys = word;
    word += header.arity();
    for (size_t i = 0; result && i < header.arity(); ++i) {
      PyRef child = PyRef::steal(build());
      if (!child || PyObject_SetItem(result.get(), keys[i].object(), child.get()) < 0)
        return nullptr;
    }
    return result.take();
  }

  const Word *word;
  PyObject *const *leaf;
};
} // namespace

PyObject *pcrt::python::unflatten(const TreeObject *tree, PyObject *const *leaves) {
  if (tree->nodeCount == 1 && tree->leafCount == 1)
    return Py_NewRef(leaves[0]);
  return Builder(tree, leaves).build();
}

static PyObject *treeUnflatten(PyObject *self, PyObject *leaves) {
  PyRef items = PyRef::steal(PySequence_Tuple(leaves));
  if (!items)
    return nullptr;
  if (PyTuple_GET_SIZE(items.get()) != asTree(self)->leafCount) {
    PyErr_Format(PyExc_ValueError, "unflatten: %zd leaves for a tree that has %zd: %R", PyTuple_GET_SIZE(items.get()),
                 asTree(self)->leafCount, self);
    return nullptr;
  }
  return unflatten(asTree(self), reinterpret_cast<PyTupleObject *>(items.get())->ob_item);
}

//===-- Parts
//-------------------------------------------------------------------------------------------------------===//

const Word *pcrt::python::skipNode(const Word *word) {
  for (size_t pending = 1; pending > 0; --pending) {
    Word header = *word;
    word += 1 + extraWords(header);
    pending += header.arity();
  }
  return word;
}

static PyObject *treeChildren(PyObject *self, PyObject *) {
  const Word *word = asTree(self)->words->data();
  Word header = *word;
  word += 1 + extraWords(header);
  PyRef result = PyRef::steal(PyList_New(0));
  for (size_t i = 0; result && i < header.arity(); ++i) {
    const Word *end = skipNode(word);
    PyRef child = PyRef::steal(newTree(word, static_cast<size_t>(end - word)));
    if (!child || PyList_Append(result.get(), child.get()) < 0)
      return nullptr;
    word = end;
  }
  return result.take();
}

/// The structure of a tuple of trees that have the given structures.
static PyObject *tupleOfTrees(PyObject *, PyObject *structures) {
  PyRef items = PyRef::steal(PySequence_Tuple(structures));
  if (!items)
    return nullptr;
  Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  std::vector<Word> words{Word::header(NodeKind::Tuple, static_cast<size_t>(count))};
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = PyTuple_GET_ITEM(items.get(), i);
    if (!isTree(item))
      return PyErr_Format(PyExc_TypeError, "treedef_tuple: takes PyTreeDefs, got %R at position %zd", item, i);
    words.insert(words.end(), asTree(item)->words->begin(), asTree(item)->words->end());
  }
  return newTree(words.data(), words.size());
}

static std::string textOf(PyObject *textObject) {
  PyRef text = PyRef::steal(textObject);
  const char *utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  PyErr_Clear();
  return utf8 ? utf8 : "?";
}

static std::string reprOf(PyObject *object) { return textOf(PyObject_Repr(object)); }

/// (type, auxiliary data, number of children) -> a text for each child, or None; null until set_node_namer.
static PyObject *nodeNamer = nullptr;

static PyObject *setNodeNamer(PyObject *, PyObject *namer) {
  Py_XSETREF(nodeNamer, namer == Py_None ? nullptr : Py_NewRef(namer));
  Py_RETURN_NONE;
}

/// The path element of a custom node's child, by the names of its registration; empty if it has none.
static std::string customName(const Word *node, size_t i) {
  if (!nodeNamer)
    return "";
  PyRef names = PyRef::steal(PyObject_CallFunction(nodeNamer, "OOn", node[1].object(), node[2].object(),
                                                   static_cast<Py_ssize_t>(node->arity())));
  PyRef name;
  if (names && names.get() != Py_None)
    name = PyRef::steal(PySequence_GetItem(names.get(), static_cast<Py_ssize_t>(i)));
  const char *utf8 = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  PyErr_Clear();
  return utf8 ? utf8 : "";
}

/// The path element of the i-th child of a node: "[0]", "['w']", ".x".
static std::string childPath(const Word *node, size_t i) {
  switch (node->kind()) {
  case NodeKind::Dict:
  case NodeKind::OrderedDict:
    return "[" + reprOf(node[1 + i].object()) + "]";
  case NodeKind::DefaultDict:
    return "[" + reprOf(node[2 + i].object()) + "]";
  case NodeKind::NamedTuple: {
    PyRef fields = PyRef::steal(PyObject_GetAttrString(node[1].object(), "_fields"));
    PyRef field = fields ? PyRef::steal(PySequence_GetItem(fields.get(), static_cast<Py_ssize_t>(i))) : PyRef();
    const char *utf8 = field && PyUnicode_Check(field.get()) ? PyUnicode_AsUTF8(field.get()) : nullptr;
    PyErr_Clear();
    return utf8 ? std::string(".") + utf8 : "[" + std::to_string(i) + "]";
  }
  case NodeKind::Custom:
    if (std::string name = customName(node, i); !name.empty())
      return name;
    [[fallthrough]];
  default:
    return "[" + std::to_string(i) + "]";
  }
}

static const Word *collectPaths(const Word *node, const std::string &prefix, std::vector<std::string> &paths) {
  if (node->kind() == NodeKind::Leaf)
    paths.push_back(prefix);
  const Word *child = node + 1 + extraWords(*node);
  for (size_t i = 0; i < node->arity(); ++i)
    child = collectPaths(child, prefix + childPath(node, i), paths);
  return child;
}

bool pcrt::python::leafPaths(const TreeObject *tree, std::vector<std::string> &paths) {
  collectPaths(tree->words->data(), "", paths);
  return true;
}

std::string pcrt::python::leafPath(PyObject *tree, size_t leaf) {
  PyRef leaves;
  PyRef structure = PyRef::steal(flattenToTree(tree, nullptr, leaves));
  std::vector<std::string> paths;
  if (structure)
    leafPaths(asTree(structure.get()), paths);
  PyErr_Clear();
  return leaf < paths.size() ? paths[leaf] : "";
}

static PyObject *treePaths(PyObject *self, PyObject *) {
  std::vector<std::string> paths;
  leafPaths(asTree(self), paths);
  PyRef result = PyRef::steal(PyList_New(static_cast<Py_ssize_t>(paths.size())));
  for (size_t i = 0; result && i < paths.size(); ++i) {
    PyObject *text = PyUnicode_FromString(paths[i].c_str());
    if (!text)
      return nullptr;
    PyList_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), text);
  }
  return result.take();
}

namespace {
/// Walks a structure and a tree together; the tree may continue below the structure's leaves.
class PrefixMatcher {
public:
  PrefixMatcher(const TreeObject *tree, PyObject *subtrees) : word(tree->words->data()), subtrees(subtrees) {}

  bool match(PyObject *tree, const std::string &path) {
    const Word *node = word;
    if (node->kind() == NodeKind::Leaf) {
      ++word;
      return PyList_Append(subtrees, tree) == 0;
    }
    OneLevel level(tree);
    if (!flatten(tree, level))
      return false;
    size_t own = 1 + extraWords(*node);
    int equal = level.words.size() >= own && level.words[0] == *node ? equalWords(node, level.words.data(), own) : 0;
    if (equal < 0)
      return false;
    if (equal == 0) {
      // The first words are JAX's, by which programs know this error.
      bool isDict = node->kind() == NodeKind::Dict && PyDict_CheckExact(tree);
      PyErr_Format(PyExc_ValueError, "%strees differ at 'tree%s': expected %s, got %R",
                   isDict ? "Dict key mismatch: " : "", path.c_str(), describe(node).c_str(), tree);
      return false;
    }
    word += own;
    for (size_t i = 0; i < node->arity(); ++i)
      if (!match(level.children[i], path + childPath(node, i)))
        return false;
    return true;
  }

private:
  /// The header of the root, with its children as leaves.
  class OneLevel final : public TreeSink {
  public:
    explicit OneLevel(PyObject *root) : root(root) {}
    bool leaf(PyObject *object) override {
      word(Word::header(NodeKind::Leaf, 0));
      children.push_back(object);
      return true;
    }
    int isLeaf(PyObject *object) override { return std::exchange(atRoot, false) && object == root ? 0 : 1; }
    std::vector<PyObject *> children;

  private:
    PyObject *root;
    bool atRoot = true;
  };

  static std::string describe(const Word *node) {
    std::string size = std::to_string(node->arity());
    switch (node->kind()) {
    case NodeKind::None:
      return "None";
    case NodeKind::Tuple:
      return "a tuple of " + size;
    case NodeKind::List:
      return "a list of " + size;
    case NodeKind::NamedTuple:
    case NodeKind::Custom:
      return "an instance of " + reprOf(node[1].object());
    default: {
      std::string keys;
      for (size_t i = 0; i < node->arity(); ++i)
        keys += (i ? ", " : "") + reprOf(node[extraWords(*node) - node->arity() + 1 + i].object());
      return "a dict with the keys [" + keys + "]";
    }
    }
  }

  const Word *word;
  PyObject *subtrees;
};
} // namespace

static PyObject *treeFlattenUpTo(PyObject *self, PyObject *tree) {
  PyRef subtrees = PyRef::steal(PyList_New(0));
  if (!subtrees || !PrefixMatcher(asTree(self), subtrees.get()).match(tree, ""))
    return nullptr;
  return subtrees.take();
}

//===-- Comparison, printing
//----------------------------------------------------------------------------------------===//

static PyObject *compareTrees(PyObject *self, PyObject *other, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || !isTree(other))
    Py_RETURN_NOTIMPLEMENTED;
  const std::vector<Word> &a = *asTree(self)->words, &b = *asTree(other)->words;
  int equal = self == other;
  if (!equal && a.size() == b.size() && asTree(self)->hash == asTree(other)->hash)
    equal = equalWords(a.data(), b.data(), a.size());
  return equal < 0 ? nullptr : PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_hash_t hashTree(PyObject *self) { return asTree(self)->hash; }

/// As JAX prints it: (*, {'a': *}).
static const Word *printNode(const Word *node, std::string &text) {
  const Word *child = node + 1 + extraWords(*node);
  size_t arity = node->arity();
  auto list = [&](const char *open, const char *close, auto prefix) {
    text += open;
    for (size_t i = 0; i < arity; ++i) {
      text += i ? ", " : "";
      text += prefix(i);
      child = printNode(child, text);
    }
    text += close;
  };
  auto nothing = [](size_t) { return std::string(); };
  auto keys = [&](size_t first) {
    std::string result = "(";
    for (size_t i = 0; i < arity; ++i)
      result += (i ? ", " : "") + reprOf(node[first + i].object());
    return result + (arity == 1 ? ",)" : ")");
  };
  switch (node->kind()) {
  case NodeKind::Leaf:
    text += "*";
    break;
  case NodeKind::None:
    text += "None";
    break;
  case NodeKind::Tuple:
    list("(", arity == 1 ? ",)" : ")", nothing);
    break;
  case NodeKind::List:
    list("[", "]", nothing);
    break;
  case NodeKind::Dict:
    list("{", "}", [&](size_t i) { return reprOf(node[1 + i].object()) + ": "; });
    break;
  case NodeKind::OrderedDict:
    text += "CustomNode(OrderedDict[" + keys(1) + "]";
    list(", [", "])", nothing);
    break;
  case NodeKind::DefaultDict:
    text += "CustomNode(defaultdict[(" + reprOf(node[1].object()) + ", " + keys(2) + ")]";
    list(", [", "])", nothing);
    break;
  case NodeKind::NamedTuple:
    text += "CustomNode(namedtuple[" + std::string(reinterpret_cast<PyTypeObject *>(node[1].object())->tp_name) + "]";
    list(", [", "])", nothing);
    break;
  case NodeKind::Custom:
    text += "CustomNode(" + std::string(reinterpret_cast<PyTypeObject *>(node[1].object())->tp_name) + "[" +
            textOf(PyObject_Str(node[2].object())) + "]";
    list(", [", "])", nothing);
    break;
  case NodeKind::Static:
    break;
  }
  return child;
}

static PyObject *reprTree(PyObject *self) {
  std::string text;
  printNode(asTree(self)->words->data(), text);
  return PyUnicode_FromString(("PyTreeDef(" + text + ")").c_str());
}

//===-- The type
//----------------------------------------------------------------------------------------------------===//

static PyGetSetDef treeProperties[] = {
    {"num_leaves", [](PyObject *self, void *) { return PyLong_FromSsize_t(asTree(self)->leafCount); }, nullptr,
     "Number of leaves.", nullptr},
    {"num_nodes", [](PyObject *self, void *) { return PyLong_FromSsize_t(asTree(self)->nodeCount); }, nullptr,
     "Number of nodes, leaves included.", nullptr},
    {}};

static PyMethodDef treeMethods[] = {
    {"unflatten", treeUnflatten, METH_O, "The tree with the given leaves."},
    {"flatten_up_to", treeFlattenUpTo, METH_O, "The subtrees of a tree at this structure's leaves."},
    {"children", treeChildren, METH_NOARGS, "The structures of the root's children."},
    {"paths", treePaths, METH_NOARGS, "The key path of every leaf."},
    {}};

/// The methods above, then those of TreeParts.cpp: the type keeps a pointer to this array.
static PyMethodDef *allMethods() {
  static std::vector<PyMethodDef> methods;
  for (PyMethodDef *group : {treeMethods, treePartMethods})
    for (; group->ml_name; ++group)
      methods.push_back(*group);
  methods.push_back({});
  return methods.data();
}

static PyType_Slot treeSlots[] = {{Py_tp_methods, nullptr},
                                  {Py_tp_doc, const_cast<char *>("The structure of a tree of containers.")},
                                  {Py_tp_dealloc, reinterpret_cast<void *>(deallocateTree)},
                                  {Py_tp_traverse, reinterpret_cast<void *>(traverseTree)},
                                  {Py_tp_repr, reinterpret_cast<void *>(reprTree)},
                                  {Py_tp_hash, reinterpret_cast<void *>(hashTree)},
                                  {Py_tp_richcompare, reinterpret_cast<void *>(compareTrees)},
                                  {Py_tp_getset, treeProperties},
                                  {}};

static PyType_Spec treeSpec = {"pycompiler._runtime.PyTreeDef", sizeof(TreeObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, treeSlots};

static PyMethodDef functions[] = {
    {"treedef_tuple", tupleOfTrees, METH_O,
     "treedef_tuple(treedefs)\n--\n\nThe structure of a tuple of trees of the given structures."},
    {"tree_flatten", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(treeFlatten)), METH_VARARGS | METH_KEYWORDS,
     "tree_flatten(tree, is_leaf=None)\n--\n\nThe leaves of a tree and its structure."},
    {"set_node_namer", setNodeNamer, METH_O, "Set the function that names the children of registered nodes in paths."},
    {}};

bool pcrt::python::addTreeType(PyObject *module) {
  treeSlots[0].pfunc = allMethods();
  treeType = addType(module, treeSpec);
  return treeType && registerTreeNodes(module) && addTreeParts(module) && PyModule_AddFunctions(module, functions) == 0;
}

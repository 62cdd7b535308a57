// The structure of a tree of Python containers, as a sequence of words, and the flattening that makes it. JitFunction
// flattens its arguments with the same code as Tree, so that its key and the trees in Python cannot differ.
//
// A structure in words, in pre-order: a node is a header (kind and arity), then words of the kind, then the children.
//   Dict, OrderedDict   the keys, one object word each (a dict's are sorted)
//   DefaultDict         the factory, then the keys
//   NamedTuple          the type
//   Custom              the type, then the auxiliary data
#ifndef PYCOMPILER_RUNTIME_PYTHON_TYPES_TREEWORDS_H
#define PYCOMPILER_RUNTIME_PYTHON_TYPES_TREEWORDS_H

#include "support/PyRef.h"

#include <cstdint>
#include <vector>

namespace pcrt::python {

enum class NodeKind : uint8_t {
  Leaf,
  None,
  Tuple,
  List,
  Dict,
  OrderedDict,
  DefaultDict,
  NamedTuple,
  Custom,
  /// Only in the key of a jitted call: an argument that is compared, not flattened (its type and its value follow).
  Static
};

/// A header, an object that is compared by identity (a type), or an object that is compared by ==.
class Word {
public:
  Word() = default;
  static Word header(NodeKind kind, size_t arity) { return Word(arity << 8 | static_cast<uint64_t>(kind) << 3 | 1); }
  static Word identity(void *pointer) { return Word(reinterpret_cast<uint64_t>(pointer)); }
  static Word value(PyObject *object) { return Word(reinterpret_cast<uint64_t>(object) | 2); }

  bool isHeader() const { return bits & 1; }
  bool isValue() const { return bits & 2; }
  NodeKind kind() const { return static_cast<NodeKind>((bits >> 3) & 31); }
  size_t arity() const { return bits >> 8; }
  /// The object of an identity or value word.
  PyObject *object() const { return reinterpret_cast<PyObject *>(bits & ~uint64_t(7)); }
  uint64_t raw() const { return bits; }
  bool operator==(Word other) const { return bits == other.bits; }

private:
  explicit Word(uint64_t bits) : bits(bits) {}
  uint64_t bits;
};

/// The number of object words after a header, before its children.
size_t extraWords(Word header);

/// The receiver of a flattening. The functions return false with an exception set to end it.
class TreeSink {
public:
  virtual bool leaf(PyObject *object) = 0;
  /// Whether a container counts as a leaf: 1, 0, or -1 with an exception.
  virtual int isLeaf(PyObject *) { return 0; }
  void word(Word word) { words.push(word); }
  /// Keeps an object alive, to which words or leaves point, until the sink is destroyed.
  void keep(PyObject *object) { owned.push(object); }

  SmallVector<Word, 48> words;

protected:
  TreeSink() = default;
  ~TreeSink() {
    for (PyObject *object : owned)
      Py_DECREF(object);
  }

private:
  SmallVector<PyObject *, 8> owned;
};

/// Flattens a tree; false with an exception set.
bool flatten(PyObject *tree, TreeSink &sink);

/// Adds a word to a hash. An unhashable object counts by its type, and `isHashable` becomes false. False with an
/// exception set.
bool hashWord(Word word, uint64_t &hash, bool &isHashable);
/// Whether two sequences of words are equal: 1, 0, or -1 with an exception.
int equalWords(const Word *a, const Word *b, size_t count);
/// Replaces unhashable objects by copies, which `copies` owns: a stored key must not change when the caller changes the
/// object. False with an exception set.
bool snapshotWords(Word *words, size_t count, std::vector<PyRef> &copies);
/// The end of the node that starts at `word`.
const Word *skipNode(const Word *word);

/// Whether an object is an ndarray of dtype float0, the derivative of an integer.
bool isNothing(PyObject *object);
/// Flattens an array without elements to a node without children, whose data is its shape; false with an exception set.
bool flattenNothing(PyObject *array, TreeSink &sink);
/// The same, replacing the current error. For any other object, the error stays.
bool flattenNothingInstead(PyObject *object, TreeSink &sink);

/// The functions that register_node got for a custom type, or null.
struct NodeFunctions {
  PyObject *toIter, *fromIter;
};
const NodeFunctions *customNode(PyTypeObject *type);
/// The kind of a type's instances in a tree: Leaf if they are not nodes. NamedTuple for a namedtuple.
NodeKind kindOfType(PyTypeObject *type);

/// TreeFlatten.cpp's part of the module.
bool registerTreeNodes(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_TYPES_TREEWORDS_H

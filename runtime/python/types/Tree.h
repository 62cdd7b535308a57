// PyTreeDef: the structure of a tree (TreeWords) as a Python object.
#ifndef PYCOMPILER_RUNTIME_PYTHON_TYPES_TREE_H
#define PYCOMPILER_RUNTIME_PYTHON_TYPES_TREE_H

#include "types/TreeWords.h"

#include <string>

namespace pcrt::python {

struct TreeObject {
  PyObject_HEAD std::vector<Word> *words; // their objects are owned
  Py_ssize_t leafCount, nodeCount;
  Py_hash_t hash;
  bool isHashable; // whether every object in it is
};

extern PyTypeObject *treeType;

inline bool isTree(PyObject *object) { return Py_TYPE(object) == treeType; }

/// A new PyTreeDef of the words, or null.
PyObject *newTree(const Word *words, size_t count);
/// The structure with copies of its unhashable data; the structure itself if there is none.
PyObject *snapshotTree(PyObject *tree);
/// The words of `tree`'s structure (a leaf is a Leaf header) and its leaves as a new list; null with an exception. With
/// `hidesNothing`, arrays without elements are a part of the structure.
PyObject *flattenToTree(PyObject *tree, PyObject *isLeaf, PyRef &leaves, bool hidesNothing = false);
/// Builds the tree from `leaves`, one for each leaf, borrowed.
PyObject *unflatten(const TreeObject *tree, PyObject *const *leaves);
/// The key path of each leaf: "[0]['w']".
bool leafPaths(const TreeObject *tree, std::vector<std::string> &paths);
/// The path of a leaf of a tree, by its number; empty, without an exception, if it has none.
std::string leafPath(PyObject *tree, size_t leaf);

bool addTreeType(PyObject *module);
/// TreeParts.cpp's methods of PyTreeDef, terminated by an empty one.
extern PyMethodDef treePartMethods[];
/// TreeParts.cpp's part of the module.
bool addTreeParts(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_TYPES_TREE_H

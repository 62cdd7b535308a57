// ShapedArray, as a raw CPython type: shape, dtype and weak type, interned when the shape is all ints, so that the key
// of a jitted call is made of pointers. First of the binding's types; Array holds one.
#ifndef PYCOMPILER_RUNTIME_PYTHON_AVAL_H
#define PYCOMPILER_RUNTIME_PYTHON_AVAL_H

#include "runtime/DType.h"
#include "support/PyRef.h"

namespace pcrt::python {

struct AvalObject {
  PyObject_VAR_HEAD // the size is twice the rank
      Py_hash_t hash;
  PyObject *dtype; // np.dtype
  PyObject *shape; // tuple
  AvalObject *row; // without the first dimension: owned, null until it is asked for (by Subscript)
  Py_ssize_t size; // elements; -1 when a dimension is a symbol
  Py_ssize_t nbytes;
  DType code;
  bool weakType;
  Py_ssize_t dims[1]; // dimensions, then strides in bytes; set when there is no symbol

  Py_ssize_t rank() const { return Py_SIZE(this) / 2; }
  bool isConcrete() const { return size >= 0; }
  const Py_ssize_t *strides() const { return dims + rank(); }
};

extern PyTypeObject *avalType;

inline bool isAval(PyObject *object) { return Py_TYPE(object) == avalType; }

/// The interned aval of an all-int shape: a new reference, or null (OverflowError when there are too many bytes).
AvalObject *internAval(const Py_ssize_t *dims, Py_ssize_t rank, DType dtype, bool weakType);
/// Of `count` rows of an array of this aval, whose shape is all ints: its first dimension is so many.
AvalObject *avalOfRows(const AvalObject *aval, Py_ssize_t count);
/// From Python values, as the constructor does.
AvalObject *makeAval(PyObject *shape, PyObject *dtype, bool weakType);

/// The np.dtype of a code, borrowed; null with TypeError when it was not registered.
PyObject *numpyDType(DType dtype);
/// The code of whatever np.dtype() takes; false with TypeError when it is no element type.
bool dtypeCode(PyObject *dtype, DType &code);
/// The code of an np.dtype that is one; false, without an exception, when it is not.
bool knownDType(PyObject *dtype, DType &code);
/// False with an exception set.
bool registerDType(PyObject *dtype, int code, const char *name);

bool addAvalType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_AVAL_H

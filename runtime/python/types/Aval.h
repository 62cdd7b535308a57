// ShapedArray, as a raw CPython type: shape, dtype, weak type, and the sharding over explicit mesh axes. It is interned
// if the shape is all ints, so that the key of a jitted call consists of pointers. First of the binding's types; Array
// holds one.
#ifndef PYCOMPILER_RUNTIME_PYTHON_AVAL_H
#define PYCOMPILER_RUNTIME_PYTHON_AVAL_H

#include "runtime/DType.h"
#include "support/PyRef.h"

namespace pcrt::python {

struct AvalObject {
  PyObject_VAR_HEAD // the size is twice the rank
      Py_hash_t hash;
  PyObject *dtype;    // np.dtype
  PyObject *shape;    // tuple
  AvalObject *row;    // without the first dimension: owned, null until Subscript needs it
  PyObject *sharding; // owned; null unless an explicit axis of a mesh divides a dimension
  Py_ssize_t size;    // elements; -1 when a dimension is a symbol
  Py_ssize_t nbytes;
  DType code;
  bool weakType;
  Py_ssize_t dims[1]; // dimensions, then strides in bytes; set if there is no symbol

  Py_ssize_t rank() const { return Py_SIZE(this) / 2; }
  bool isConcrete() const { return size >= 0; }
  const Py_ssize_t *strides() const { return dims + rank(); }
};

extern PyTypeObject *avalType;

inline bool isAval(PyObject *object) { return Py_TYPE(object) == avalType; }

/// The interned aval of an all-int shape: a new reference, or null (OverflowError when there are too many bytes).
/// `sharding` is null or an interned object: avals compare its address.
AvalObject *internAval(const Py_ssize_t *dims, Py_ssize_t rank, DType dtype, bool weakType,
                       PyObject *sharding = nullptr);
/// The aval of `count` rows of an array with this aval, whose shape is all ints: its first dimension is `count`.
AvalObject *avalOfRows(const AvalObject *aval, Py_ssize_t count);
/// From Python values, like the constructor. `sharding` is null, None or a value for the constructor.
AvalObject *makeAval(PyObject *shape, PyObject *dtype, bool weakType, PyObject *sharding = nullptr);
/// Set the functions of shardings: (sharding, shape) -> the interned sharding of the type or None; aval -> the sharding
/// of a type without one.
bool setTypeShardings(PyObject *intern, PyObject *standard);

/// The np.dtype of a code, borrowed; null with TypeError when it was not registered.
PyObject *numpyDType(DType dtype);
/// The code of any argument that np.dtype() accepts; false with TypeError if it is not an element type.
bool dtypeCode(PyObject *dtype, DType &code);
/// The code of an np.dtype that is one; false, without an exception, when it is not.
bool knownDType(PyObject *dtype, DType &code);
/// False with an exception set.
bool registerDType(PyObject *dtype, int code, const char *name);

bool addAvalType(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_AVAL_H

// `isinstance` and `issubclass` for Array: tracers count as arrays, too. For arrays themselves Python does not call
// this, because their type is the class.
#include "call/ArrayType.h"

#include "array/Array.h"
#include "support/Context.h"

using namespace pcrt;
using namespace pcrt::python;

static bool isArrayType(PyTypeObject *type) {
  return PyType_IsSubtype(type, arrayType) || (tracerType && PyType_IsSubtype(type, tracerType));
}

/// Classes of users' own may derive from the class of Array (the metaclass); they are no arrays.
static bool isArrayItself(PyObject *self) { return self == reinterpret_cast<PyObject *>(arrayType); }

static PyObject *ofType(const char *method, PyObject *self, PyObject *object) {
  return PyObject_CallMethod(reinterpret_cast<PyObject *>(&PyType_Type), method, "OO", self, object);
}

static PyObject *isInstance(PyObject *self, PyObject *object) {
  if (!isArrayItself(self))
    return ofType("__instancecheck__", self, object);
  if (isArrayType(Py_TYPE(object)))
    Py_RETURN_TRUE;
  // As `isinstance` does for every class: an object that replaces another one reports its class (unittest.mock).
  static PyObject *const name = PyUnicode_InternFromString("__class__");
  PyRef claimed = PyRef::steal(name ? PyObject_GetAttr(object, name) : nullptr);
  if (!claimed) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      return nullptr;
    PyErr_Clear();
  }
  return PyBool_FromLong(claimed && PyType_Check(claimed.get()) &&
                         isArrayType(reinterpret_cast<PyTypeObject *>(claimed.get())));
}

static PyObject *isSubclass(PyObject *self, PyObject *type) {
  if (!isArrayItself(self))
    return ofType("__subclasscheck__", self, type);
  if (!PyType_Check(type))
    return PyErr_Format(PyExc_TypeError, "issubclass() arg 1 must be a class, got %R", type);
  return PyBool_FromLong(isArrayType(reinterpret_cast<PyTypeObject *>(type)));
}

static PyMethodDef methods[] = {{"__instancecheck__", isInstance, METH_O, "Whether an object is an array, or traced."},
                                {"__subclasscheck__", isSubclass, METH_O, "Whether a class is of such objects."},
                                {}};

static PyType_Slot slots[] = {{Py_tp_doc, const_cast<char *>("The class of Array.")}, {Py_tp_methods, methods}, {}};

static PyType_Spec spec = {"pycompiler._runtime.ArrayClass", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

bool pcrt::python::setArrayClass() {
  PyObject *made = PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject *>(&PyType_Type));
  if (!made)
    return false;
  // Python 3.11 makes no type of a metaclass in C; this one has the layout of `type`.
  Py_SET_TYPE(reinterpret_cast<PyObject *>(arrayType), reinterpret_cast<PyTypeObject *>(made));
  PyType_Modified(arrayType);
  return true;
}

// ArrayFunction: like the operators, it has a general function in Python, which accepts anything, and a compiled one,
// for calls with arrays and plain numbers without an active trace. Arguments after the arrays, by position or by name,
// are options: the compiled function is specialized to their values. It is made at the first such call.
#include "call/ArrayFunction.h"

#include "array/Pending.h"
#include "array/Plain.h"
#include "support/Context.h"

#include <structmember.h>

using namespace pcrt;
using namespace pcrt::python;

namespace {
struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *general;
  PyObject *make;     // makes the compiled function; null when there is none
  PyObject *compiled; // null until it is made
  PyObject *options;  // tuple of str: options that may be given by name
  PyObject *dict, *weakReferences;
  Py_ssize_t fewest, most; // arrays and numbers, by position
  bool takesDTypes;        // among the options
};
} // namespace

static FunctionObject *asFunction(PyObject *object) { return reinterpret_cast<FunctionObject *>(object); }

//===-- Which calls are compiled
//-----------------------------------------------------------------------------------------------------===//

/// Arrays, and numbers that each of the arrays accepts; at least one is an array.
static bool areOperands(PyObject *const *values, Py_ssize_t count) {
  bool anyArray = false, anyNumber = false, withInts = false, allTakeInts = true;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!isPlainArray(values[i])) {
      anyNumber = true;
      continue;
    }
    anyArray = true;
    DType dtype = asArray(values[i])->aval->code;
    if (dtype == DType::Bool)
      continue;
    withInts |= takesInts(dtype);
    allTakeInts &= takesInts(dtype);
  }
  if (!anyArray || !anyNumber)
    return anyArray;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!isArray(values[i]) && !isPlainNumber(values[i], withInts && allTakeInts))
      return false;
    else if (isArray(values[i]) && !isPlainArray(values[i]))
      return false;
  return true;
}

/// Objects that name one dtype under every configuration, or the default one: a 64-bit dtype is narrowed, with a
/// warning, under most. Set by Python.
static PyObject *settledDTypes = nullptr;

static bool isSettledDType(PyObject *value) {
  if (!settledDTypes)
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(settledDTypes); ++i)
    if (PyTuple_GET_ITEM(settledDTypes, i) == value)
      return true;
  return false;
}

static bool isOption(PyObject *value, bool takesDTypes) {
  if (value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value))
    return true;
  if (PyUnicode_CheckExact(value))
    return !takesDTypes; // it may be the name of one
  if (PyTuple_CheckExact(value)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
      if (!PyLong_CheckExact(PyTuple_GET_ITEM(value, i)))
        return false;
    return true;
  }
  return takesDTypes && isSettledDType(value);
}

static bool isOptionName(const FunctionObject *function, PyObject *name) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(function->options); ++i)
    if (PyTuple_GET_ITEM(function->options, i) == name)
      return true;
  return false;
}

static bool isCompiled(const FunctionObject *function, PyObject *const *values, Py_ssize_t count, PyObject *names) {
  if (count < function->fewest || currentTrace)
    return false;
  Py_ssize_t operands = count < function->most ? count : function->most;
  if (!areOperands(values, operands))
    return false;
  for (Py_ssize_t i = operands; i < count; ++i)
    if (!isOption(values[i], function->takesDTypes))
      return false;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    if (!isOptionName(function, PyTuple_GET_ITEM(names, i)) || !isOption(values[count + i], function->takesDTypes))
      return false;
  return true;
}

//===-- Calls
//-----------------------------------------------------------------------------------------------------===//

[[gnu::noinline]] static bool makeCompiled(FunctionObject *function) {
  PyRef made = PyRef::steal(PyObject_CallNoArgs(function->make));
  if (!made)
    return false;
  if (!function->compiled)
    function->compiled = made.take();
  return true;
}

/// Whether the current exception says that the call is wrong, or cannot be traced: then the general function raises the
/// error.
static bool isRefusal() {
  return PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
         PyErr_ExceptionMatches(PyExc_IndexError) || PyErr_ExceptionMatches(PyExc_OverflowError);
}

static PyObject *callFunction(PyObject *self, PyObject *const *values, size_t flags, PyObject *names) {
  FunctionObject *function = asFunction(self);
  if (function->make && isCompiled(function, values, PyVectorcall_NARGS(flags), names)) {
    if (!function->compiled && !makeCompiled(function))
      return nullptr;
    PyObject *result = PyObject_Vectorcall(function->compiled, values, flags, names);
    if (result || !isRefusal())
      return result;
    PyErr_Clear();
  }
  if (!function->general) {
    PyErr_SetString(PyExc_TypeError, "ArrayFunction: __init__ was not called");
    return nullptr;
  }
  return PyObject_Vectorcall(function->general, values, flags, names);
}

//===-- The type
//-----------------------------------------------------------------------------------------------------===//

static PyObject *newFunction(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (self)
    asFunction(self)->vectorcall = callFunction;
  return self;
}

static int initFunction(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"general", nullptr};
  PyObject *general;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:ArrayFunction", const_cast<char **>(names), &general))
    return -1;
  if (!PyCallable_Check(general)) {
    PyErr_SetString(PyExc_TypeError, "ArrayFunction: general is not callable");
    return -1;
  }
  Py_XSETREF(asFunction(self)->general, Py_NewRef(general));
  return 0;
}

static PyObject *setCompiled(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"make", "fewest", "most", "options", "dtypes", nullptr};
  PyObject *make, *options = nullptr;
  Py_ssize_t fewest, most;
  int dtypes = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Onn|O!p:set_compiled", const_cast<char **>(keywords), &make, &fewest,
                                   &most, &PyTuple_Type, &options, &dtypes))
    return nullptr;
  if (fewest < 1 || most < fewest) {
    PyErr_SetString(PyExc_ValueError, "set_compiled: fewest is at least 1, and most no less");
    return nullptr;
  }
  PyRef interned = PyRef::steal(PyTuple_New(options ? PyTuple_GET_SIZE(options) : 0));
  for (Py_ssize_t i = 0; interned && i < PyTuple_GET_SIZE(interned.get()); ++i) {
    PyObject *name = Py_NewRef(PyTuple_GET_ITEM(options, i));
    if (PyUnicode_CheckExact(name))
      PyUnicode_InternInPlace(&name); // as the keywords of calls are
    PyTuple_SET_ITEM(interned.get(), i, name);
  }
  if (!interned)
    return nullptr;
  FunctionObject *function = asFunction(self);
  function->fewest = fewest;
  function->most = most;
  function->takesDTypes = dtypes != 0;
  Py_CLEAR(function->compiled);
  Py_XSETREF(function->options, interned.take());
  Py_XSETREF(function->make, Py_NewRef(make));
  Py_RETURN_NONE;
}

static int traverseFunction(PyObject *self, visitproc visit, void *arg) {
  FunctionObject *function = asFunction(self);
  Py_VISIT(Py_TYPE(self));
  for (PyObject *part : {function->general, function->make, function->compiled, function->dict})
    Py_VISIT(part);
  return 0;
}

static int clearFunction(PyObject *self) {
  FunctionObject *function = asFunction(self);
  for (PyObject **part : {&function->general, &function->make, &function->compiled, &function->dict})
    Py_CLEAR(*part);
  return 0;
}

static void deallocateFunction(PyObject *self) {
  PyObject_GC_UnTrack(self);
  FunctionObject *function = asFunction(self);
  if (function->weakReferences)
    PyObject_ClearWeakRefs(self);
  clearFunction(self);
  Py_XDECREF(function->options);
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *bindFunction(PyObject *self, PyObject *instance, PyObject *) {
  return !instance || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *reprFunction(PyObject *self) {
  PyRef name = PyRef::steal(PyObject_GetAttrString(self, "__qualname__"));
  if (!name)
    PyErr_Clear();
  return name ? PyUnicode_FromFormat("<function %S>", name.get()) : PyUnicode_FromString("<function of arrays>");
}

/// Like plain functions: copies are the function itself, and a pickle holds the name of its import.
static PyObject *reduceFunction(PyObject *self, PyObject *) { return PyObject_GetAttrString(self, "__qualname__"); }

static PyMemberDef functionMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakReferences), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"general", T_OBJECT, offsetof(FunctionObject, general), READONLY, "The general function, which takes every call."},
    {"compiled", T_OBJECT, offsetof(FunctionObject, compiled), READONLY,
     "The compiled function for calls with arrays, plain numbers and options; None until the first one."},
    {}};

static PyGetSetDef functionProperties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};

static PyMethodDef functionMethods[] = {
    {"__reduce__", reduceFunction, METH_NOARGS, nullptr},
    {"set_compiled", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(setCompiled)), METH_VARARGS | METH_KEYWORDS,
     "set_compiled(make, fewest, most, options=(), dtypes=False): `make()` gives the compiled function, which takes\n"
     "calls of `fewest` to `most` arrays and numbers, with the options named; dtypes may be among these."},
    {}};

static PyType_Slot functionSlots[] = {{Py_tp_doc, const_cast<char *>("A function of arrays.")},
                                      {Py_tp_new, reinterpret_cast<void *>(newFunction)},
                                      {Py_tp_init, reinterpret_cast<void *>(initFunction)},
                                      {Py_tp_dealloc, reinterpret_cast<void *>(deallocateFunction)},
                                      {Py_tp_traverse, reinterpret_cast<void *>(traverseFunction)},
                                      {Py_tp_clear, reinterpret_cast<void *>(clearFunction)},
                                      {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                                      {Py_tp_descr_get, reinterpret_cast<void *>(bindFunction)},
                                      {Py_tp_repr, reinterpret_cast<void *>(reprFunction)},
                                      {Py_tp_members, functionMembers},
                                      {Py_tp_getset, functionProperties},
                                      {Py_tp_methods, functionMethods},
                                      {}};

static PyType_Spec functionSpec = {"pycompiler._runtime.ArrayFunction", sizeof(FunctionObject), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                       Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                                   functionSlots};

static PyObject *setSettledDTypes(PyObject *, PyObject *names) {
  if (!PyTuple_Check(names)) {
    PyErr_SetString(PyExc_TypeError, "set_settled_dtypes: not a tuple");
    return nullptr;
  }
  Py_XSETREF(settledDTypes, Py_NewRef(names));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_settled_dtypes", setSettledDTypes, METH_O,
     "Set the objects that, given as an option, mean the same dtype under every configuration."},
    {}};

bool pcrt::python::addArrayFunctionType(PyObject *module) {
  return addType(module, functionSpec) && PyModule_AddFunctions(module, functions) == 0;
}

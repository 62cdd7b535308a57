// The thread's trace and configuration, and the conversion of leaves.
#include "Context.h"

using namespace pcrt;
using namespace pcrt::python;

//===-- Trace and configuration -------------------------------------------------------------------------------------===//

thread_local PyObject *pcrt::python::currentTrace = nullptr;
static thread_local PyObject *ownContextKey = nullptr;
static PyObject *commonContextKey = Py_NewRef(Py_None);
PyTypeObject *pcrt::python::tracerType = nullptr;

PyObject *pcrt::python::contextKey() { return ownContextKey ? ownContextKey : commonContextKey; }

static PyObject *orNone(PyObject *object) { return object ? object : Py_NewRef(Py_None); }

/// Puts `value` (None: null) into a thread's slot and returns what was there.
static PyObject *swap(PyObject *&slot, PyObject *value) {
  PyObject *before = slot;
  slot = value == Py_None ? nullptr : Py_NewRef(value);
  return orNone(before);
}

static bool isHashable(PyObject *key) { return PyObject_Hash(key) != -1; }

static PyObject *getCurrentTrace(PyObject *, PyObject *) { return Py_NewRef(currentTrace ? currentTrace : Py_None); }
static PyObject *swapTrace(PyObject *, PyObject *trace) { return swap(currentTrace, trace); }
static PyObject *getContextKey(PyObject *, PyObject *) { return Py_NewRef(contextKey()); }

static PyObject *swapContextKey(PyObject *, PyObject *key) {
  return isHashable(key) ? swap(ownContextKey, key) : nullptr;
}

static PyObject *setContextKey(PyObject *, PyObject *key) {
  if (!isHashable(key))
    return nullptr;
  Py_SETREF(commonContextKey, Py_NewRef(key));
  Py_RETURN_NONE;
}

static PyObject *setTracerType(PyObject *, PyObject *type) {
  if (!PyType_Check(type)) {
    PyErr_SetString(PyExc_TypeError, "set_tracer_type: not a class");
    return nullptr;
  }
  Py_XINCREF(type);
  PyTypeObject *before = std::exchange(tracerType, reinterpret_cast<PyTypeObject *>(type));
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

//===-- Leaves ------------------------------------------------------------------------------------------------------===//

static PyObject *leafConverter = nullptr;

static PyObject *setLeafConverter(PyObject *, PyObject *function) {
  Py_XSETREF(leafConverter, Py_NewRef(function));
  Py_RETURN_NONE;
}

namespace {
/// The aval that the converter gave for a Python scalar type under one configuration.
struct LearnedScalar {
  PyTypeObject *type;
  PyObject *context = nullptr;
  AvalObject *aval = nullptr;

  AvalObject *current() const { return context == contextKey() ? aval : nullptr; }
  void learn(AvalObject *given) {
    Py_XSETREF(context, Py_NewRef(contextKey()));
    Py_INCREF(given);
    AvalObject *before = std::exchange(aval, given);
    Py_XDECREF(before);
  }
};
} // namespace

static LearnedScalar learned[] = {{&PyBool_Type}, {&PyLong_Type}, {&PyFloat_Type}};

static LearnedScalar *learnedFor(PyObject *leaf) {
  for (LearnedScalar &entry : learned)
    if (entry.type == Py_TYPE(leaf))
      return &entry;
  return nullptr;
}

template <typename T> static bool store(Buffer &buffer, T value) {
  *static_cast<T *>(buffer.data()) = value;
  return true;
}

/// Writes a Python scalar as the learned dtype; false when it does not fit or the dtype is an uncommon one.
static bool storeScalar(PyObject *leaf, DType dtype, Buffer &buffer) {
  if (PyFloat_CheckExact(leaf)) {
    double value = PyFloat_AS_DOUBLE(leaf);
    if (dtype == DType::Float32)
      return store(buffer, static_cast<float>(value));
    return dtype == DType::Float64 && store(buffer, value);
  }
  if (PyBool_Check(leaf))
    return dtype == DType::Bool && store(buffer, static_cast<uint8_t>(leaf == Py_True));
  int overflow;
  long long value = PyLong_AsLongLongAndOverflow(leaf, &overflow);
  if (overflow)
    return false;
  if (dtype == DType::Int32)
    return value == static_cast<int32_t>(value) && store(buffer, static_cast<int32_t>(value));
  return dtype == DType::Int64 && store(buffer, static_cast<int64_t>(value));
}

static PyObject *convertByPython(PyObject *leaf) {
  if (!leafConverter) {
    PyErr_Format(PyExc_TypeError, "%R is not an array", Py_TYPE(leaf));
    return nullptr;
  }
  PyRef result = PyRef::steal(PyObject_CallOneArg(leafConverter, leaf));
  if (result && !isArray(result.get())) {
    PyErr_Format(PyExc_TypeError, "the leaf converter returned %R, not an Array", Py_TYPE(result.get()));
    return nullptr;
  }
  return result.take();
}

PyObject *pcrt::python::convertLeaf(PyObject *leaf) {
  LearnedScalar *scalar = learnedFor(leaf);
  if (AvalObject *aval = scalar ? scalar->current() : nullptr) {
    RefPtr<Buffer> buffer = allocateBuffer(aval, "a scalar");
    if (!buffer)
      return nullptr;
    if (storeScalar(leaf, aval->code, *buffer))
      return newArray(aval, std::move(buffer));
  }
  PyObject *result = convertByPython(leaf);
  if (result && scalar && asArray(result)->aval->rank() == 0)
    scalar->learn(asArray(result)->aval);
  return result;
}

//===-- Functions ---------------------------------------------------------------------------------------------------===//

static PyMethodDef functions[] = {
    {"current_trace", getCurrentTrace, METH_NOARGS, "The graph that this thread is tracing, or None."},
    {"swap_trace", swapTrace, METH_O, "Set this thread's trace, return the previous one."},
    {"set_context_key", setContextKey, METH_O, "Set the configuration that is part of every key."},
    {"swap_context_key", swapContextKey, METH_O, "Set this thread's own context key, return the previous one."},
    {"context_key", getContextKey, METH_NOARGS, "The context key in force in this thread."},
    {"set_tracer_type", setTracerType, METH_O, "Set the class of tracers."},
    {"set_leaf_converter", setLeafConverter, METH_O, "Set the function that makes an Array of another leaf."},
    {}};

bool pcrt::python::addContextFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

// The thread's trace and configuration.
#include "support/Context.h"

using namespace pcrt;
using namespace pcrt::python;

//===-- Trace and configuration
//-------------------------------------------------------------------------------------===//

thread_local PyObject *pcrt::python::currentTrace = nullptr;
static thread_local PyObject *ownContextKey = nullptr;
static PyObject *commonContextKey = Py_NewRef(Py_None);
PyTypeObject *pcrt::python::tracerType = nullptr;

PyObject *pcrt::python::contextKey() { return ownContextKey ? ownContextKey : commonContextKey; }

static PyObject *orNone(PyObject *object) { return object ? object : Py_NewRef(Py_None); }

/// Stores `value` (None: null) in a thread's slot and returns the old one.
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
  if (type != Py_None && !PyType_Check(type)) {
    PyErr_SetString(PyExc_TypeError, "set_tracer_type: not a class");
    return nullptr;
  }
  PyObject *given = type == Py_None ? nullptr : Py_NewRef(type);
  return orNone(reinterpret_cast<PyObject *>(std::exchange(tracerType, reinterpret_cast<PyTypeObject *>(given))));
}

//===-- Functions
//---------------------------------------------------------------------------------------------------===//

static PyMethodDef functions[] = {
    {"current_trace", getCurrentTrace, METH_NOARGS, "The graph that this thread is tracing, or None."},
    {"swap_trace", swapTrace, METH_O, "Set this thread's trace, return the previous one."},
    {"set_context_key", setContextKey, METH_O, "Set the configuration that is part of every key."},
    {"swap_context_key", swapContextKey, METH_O, "Set this thread's own context key, return the previous one."},
    {"context_key", getContextKey, METH_NOARGS, "The context key in force in this thread."},
    {"set_tracer_type", setTracerType, METH_O, "Set the class of tracers, return the previous one."},
    {}};

bool pcrt::python::addContextFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

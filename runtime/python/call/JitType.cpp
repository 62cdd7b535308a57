// The Python type of jitted functions.
#include "call/JitFunction.h"

#include "call/JitMiss.h"
#include "call/JitObject.h"

#include <structmember.h>

using namespace pcrt;
using namespace pcrt::python;

SmallVector<PyTypeObject *, 4> &pcrt::python::handledTypes() {
  static auto *const types = new SmallVector<PyTypeObject *, 4>;
  return *types;
}

static PyObject *addHandledType(PyObject *, PyObject *type) {
  if (!PyType_Check(type))
    return PyErr_Format(PyExc_TypeError, "add_handled_type: not a class: %R", type);
  handledTypes().push(reinterpret_cast<PyTypeObject *>(Py_NewRef(type)));
  Py_RETURN_NONE;
}

static bool readStaticNumbers(JitObject *jit, PyObject *numbers) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); ++i) {
    Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(numbers, i));
    if (number < 0) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "JitFunction: static_argnums must not be negative");
      return false;
    }
    jit->staticNumbers->push_back(number);
  }
  return true;
}

static PyObject *newJit(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"fun", "miss", "traced", "static_argnums", "static_argnames", "sharded", nullptr};
  PyObject *fun, *miss, *traced, *staticNumbers = nullptr, *staticNames = nullptr, *sharded = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|O!O!O:JitFunction", const_cast<char **>(names), &fun, &miss,
                                   &traced, &PyTuple_Type, &staticNumbers, &PyTuple_Type, &staticNames, &sharded))
    return nullptr;
  PyRef self = PyRef::steal(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  JitObject *jit = asJit(self.get());
  jit->vectorcall = callJit;
  jit->fun = Py_NewRef(fun);
  jit->miss = Py_NewRef(miss);
  jit->traced = Py_NewRef(traced);
  jit->sharded = Py_NewRef(sharded ? sharded : traced);
  jit->staticNames = staticNames ? Py_NewRef(staticNames) : PyTuple_New(0);
  jit->staticNumbers = new std::vector<Py_ssize_t>();
  jit->cache = new CallCache();
  if (!jit->staticNames || (staticNumbers && !readStaticNumbers(jit, staticNumbers)))
    return nullptr;
  PyRef functools = PyRef::steal(PyImport_ImportModule("functools"));
  PyRef updated =
      functools ? PyRef::steal(PyObject_CallMethod(functools.get(), "update_wrapper", "OO", self.get(), fun)) : PyRef();
  return updated ? self.take() : nullptr;
}

static int traverseJit(PyObject *self, visitproc visit, void *arg) {
  JitObject *jit = asJit(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(jit->fun);
  Py_VISIT(jit->miss);
  Py_VISIT(jit->traced);
  Py_VISIT(jit->sharded);
  Py_VISIT(jit->dict);
  Py_VISIT(jit->lastMiss);
  if (!jit->cache)
    return 0;
  for (const auto &entry : jit->cache->entries()) {
    Py_VISIT(entry->key.get());
    Py_VISIT(entry->call.get());
    for (Word word : entry->words)
      if (!word.isHeader())
        Py_VISIT(word.object());
  }
  return 0;
}

static int clearJit(PyObject *self) {
  JitObject *jit = asJit(self);
  Py_CLEAR(jit->dict);
  Py_CLEAR(jit->lastMiss);
  // Still callable, for example by a finalizer: with an error.
  for (PyObject **part : {&jit->fun, &jit->miss, &jit->traced, &jit->sharded})
    if (*part)
      Py_SETREF(*part, Py_NewRef(Py_None));
  if (jit->cache)
    jit->cache->clear();
  return 0;
}

static void deallocateJit(PyObject *self) {
  PyObject_GC_UnTrack(self);
  JitObject *jit = asJit(self);
  if (jit->weakReferences)
    PyObject_ClearWeakRefs(self);
  clearJit(self);
  for (PyObject *part : {jit->fun, jit->miss, jit->traced, jit->sharded, jit->staticNames})
    Py_XDECREF(part);
  delete jit->cache;
  delete jit->staticNumbers;
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *bindJit(PyObject *self, PyObject *instance, PyObject *) {
  return !instance || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *cacheSize(PyObject *self, PyObject *) {
  return PyLong_FromSize_t(asJit(self)->cache->entries().size());
}

static PyObject *clearCache(PyObject *self, PyObject *) {
  asJit(self)->cache->clear();
  Py_RETURN_NONE;
}

static PyObject *cachedKeys(PyObject *self, PyObject *) {
  PyRef keys = PyRef::steal(PyList_New(0));
  for (const auto &entry : asJit(self)->cache->entries())
    if (!keys || PyList_Append(keys.get(), entry->key.get()) < 0)
      return nullptr;
  return keys.take();
}

/// The form of JAX, which libraries look for. A function that can't be shown is left out.
static PyObject *reprJit(PyObject *self) {
  PyRef wrapped = PyRef::steal(PyObject_GetAttrString(self, "__wrapped__"));
  PyObject *shown = wrapped ? PyUnicode_FromFormat("<PjitFunction of %R>", wrapped.get()) : nullptr;
  if (shown)
    return shown;
  PyErr_Clear();
  return PyUnicode_FromString("<PjitFunction>");
}

static PyMemberDef jitMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(JitObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(JitObject, weakReferences), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(JitObject, dict), READONLY, nullptr},
    {"last_miss", T_OBJECT, offsetof(JitObject, lastMiss), READONLY, "The key of the last call that was not cached."},
    {}};

static PyGetSetDef jitProperties[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                                      {}};

static PyMethodDef jitMethods[] = {
    {"cache_size", cacheSize, METH_NOARGS, "How many calls are cached."},
    {"clear_cache", clearCache, METH_NOARGS, "Forget the cached calls."},
    {"cached_keys", cachedKeys, METH_NOARGS, "The keys of the cached calls, in the order of compilation."},
    {}};

static PyType_Slot jitSlots[] = {{Py_tp_doc, const_cast<char *>("A function that calls compiled code.")},
                                 {Py_tp_new, reinterpret_cast<void *>(newJit)},
                                 {Py_tp_dealloc, reinterpret_cast<void *>(deallocateJit)},
                                 {Py_tp_traverse, reinterpret_cast<void *>(traverseJit)},
                                 {Py_tp_clear, reinterpret_cast<void *>(clearJit)},
                                 {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                                 {Py_tp_descr_get, reinterpret_cast<void *>(bindJit)},
                                 {Py_tp_repr, reinterpret_cast<void *>(reprJit)},
                                 {Py_tp_members, jitMembers},
                                 {Py_tp_getset, jitProperties},
                                 {Py_tp_methods, jitMethods},
                                 {}};

static PyType_Spec jitSpec = {
    "pycompiler._runtime.JitFunction", sizeof(JitObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, jitSlots};

static PyObject *setCallLimit(PyObject *, PyObject *number) {
  Py_ssize_t limit = PyLong_AsSsize_t(number);
  if (limit == -1 && PyErr_Occurred())
    return nullptr;
  CallCache::limit = static_cast<size_t>(std::max<Py_ssize_t>(limit, 1));
  Py_RETURN_NONE;
}

static PyMethodDef jitFunctions[] = {
    {"set_call_limit", setCallLimit, METH_O, "Set how many kinds of calls each jitted function keeps."},
    {"add_handled_type", addHandledType, METH_O, "Let Python handle calls with arguments of a class."},
    {}};

bool pcrt::python::addJitFunctionType(PyObject *module) {
  return addType(module, jitSpec) && PyModule_AddFunctions(module, jitFunctions) == 0 && addJitMiss(module);
}

// Arrays that share the elements of another one, and copies. Each is deleted, or donated, separately: if others share
// the memory of a donated array, the call copies it (see Call), and they do not change.
#include "array/Share.h"

#include "array/Copies.h"
#include "array/Pending.h"
#include "support/Wait.h"

using namespace pcrt;
using namespace pcrt::python;

PyRef pcrt::python::shareAll(PyObject *shards) {
  PyRef made = PyRef::steal(PyTuple_New(PyTuple_GET_SIZE(shards)));
  for (Py_ssize_t i = 0; made && i < PyTuple_GET_SIZE(shards); ++i) {
    PyObject *shard = shareElements(asArray(PyTuple_GET_ITEM(shards, i)));
    if (!shard)
      return PyRef();
    PyTuple_SET_ITEM(made.get(), i, shard);
  }
  return made;
}

PyObject *pcrt::python::shareElements(ArrayObject *array) {
  PyRef made = PyRef::steal(newArray(array->aval, RefPtr<Buffer>(array->buffer), array->committed));
  if (!made)
    return nullptr;
  ArrayObject *shared = asArray(made.get());
  shared->pendingSize = Py_XNewRef(array->pendingSize);
  shared->maxShape = Py_XNewRef(array->maxShape);
  if (isSharded(array)) {
    shared->sharding = Py_NewRef(array->sharding);
    shared->shards = shareAll(array->shards).take();
    if (!shared->shards)
      return nullptr;
  }
  return made.take();
}

PyObject *pcrt::python::viewOf(ArrayObject *array, AvalObject *aval, size_t offset) {
  auto bytes = static_cast<size_t>(aval->nbytes);
  bool isWhole = bytes == array->buffer->size();
  return newArray(aval, isWhole ? RefPtr<Buffer>(array->buffer) : Buffer::view(*array->buffer, offset, bytes),
                  array->committed);
}

static PyObject *share(PyObject *, PyObject *object) {
  if (isArray(object))
    return shareElements(asArray(object));
  return PyErr_Format(PyExc_TypeError, "share: %R is not an Array", Py_TYPE(object));
}

/// An array of the same elements in separate memory, or null. A deferred array is not copied: both arrays are made
/// separately on demand.
static PyObject *copyElements(ArrayObject *array) {
  if (isSharded(array)) {
    PyRef shards = PyRef::steal(PyTuple_New(PyTuple_GET_SIZE(array->shards)));
    PyRef given = PyRef::borrow(array->shards), made = PyRef::steal(shareElements(array));
    for (Py_ssize_t i = 0; shards && made && i < PyTuple_GET_SIZE(given.get()); ++i) {
      PyObject *shard = copyElements(asArray(PyTuple_GET_ITEM(given.get(), i)));
      if (!shard)
        return nullptr;
      PyTuple_SET_ITEM(shards.get(), i, shard);
    }
    if (!shards || !made)
      return nullptr;
    Py_SETREF(asArray(made.get())->shards, shards.take());
    return made.take();
  }
  if (array->pendingSize || isDeferred(array->buffer))
    return shareElements(array);
  PyRef aval = PyRef::borrow(reinterpret_cast<PyObject *>(array->aval));
  bool committed = array->committed;
  RefPtr<Buffer> copy = copyTo(*array->buffer->device(), array->aval, *array->buffer);
  return copy ? newArray(reinterpret_cast<AvalObject *>(aval.get()), std::move(copy), committed) : nullptr;
}

static PyObject *copied(PyObject *, PyObject *object) {
  if (isArray(object))
    return copyElements(asArray(object));
  return PyErr_Format(PyExc_TypeError, "copied: %R is not an Array", Py_TYPE(object));
}

static PyObject *bufferPointer(PyObject *, PyObject *object) {
  if (!isArray(object))
    return PyErr_Format(PyExc_TypeError, "buffer_pointer: %R is not an Array", Py_TYPE(object));
  ArrayObject *array = asArray(object);
  if (isSharded(array))
    return PyErr_Format(PyExc_ValueError,
                        "unsafe_buffer_pointer: %S is on several devices, and has several addresses. What to "
                        "do: ask one of its parts, x.addressable_shards[i].data",
                        array->aval);
  PyRef held = PyRef::borrow(object);
  if (!ensureElements(array) || !waitFor(array->buffer))
    return nullptr;
  return PyLong_FromVoidPtr(array->buffer->data());
}

static PyMethodDef functions[] = {
    {"share", share, METH_O, "Another array of the same elements, in the same memory."},
    {"copied", copied, METH_O, "Another array of the same elements, in its own memory."},
    {"buffer_pointer", bufferPointer, METH_O, "The address of the elements, when they are there."},
    {}};

bool pcrt::python::addShareFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

// Sharded arrays: created from the arrays of single devices. A read, a wait and a deletion apply to each of these.
// Python computes with them: see JitFunction's `sharded`.
#include "array/Sharded.h"

#include "array/Pending.h"
#include "array/Share.h"
#include "runtime/Devices.h"
#include "support/Wait.h"

using namespace pcrt;
using namespace pcrt::python;

static PyObject *assembler = nullptr;

static Py_ssize_t shardCount(const ArrayObject *array) { return PyTuple_GET_SIZE(array->shards); }
static ArrayObject *shard(const ArrayObject *array, Py_ssize_t i) {
  return asArray(PyTuple_GET_ITEM(array->shards, i));
}

/// Replaces the buffer: code that reads it without checking for shards fails, with the reason.
static RefPtr<Buffer> noBuffer() {
  static char nothing[PCRT_ALIGNMENT];
  static Buffer *const placeholder = [] {
    RefPtr<Buffer> made = Buffer::wrap(&Devices::cpu(), nothing, 0, nullptr, nullptr);
    made->setToken(Token::failed(RefPtr<Error>::adopt(new Error(
        Code::InvalidArgument, "an array that is on several devices was read as if it were on one", "Array", ""))));
    return made.take();
  }();
  return RefPtr<Buffer>(placeholder);
}

PyObject *pcrt::python::assemble(ArrayObject *array) {
  if (!assembler) {
    PyErr_SetString(PyExc_RuntimeError, "a sharded array was read before set_assembler");
    return nullptr;
  }
  return PyObject_CallOneArg(assembler, reinterpret_cast<PyObject *>(array));
}

bool pcrt::python::areShardsReady(const ArrayObject *array) {
  for (Py_ssize_t i = 0; i < shardCount(array); ++i)
    if (!shard(array, i)->buffer->isReady())
      return false;
  return true;
}

bool pcrt::python::waitForShards(ArrayObject *array) {
  PyRef held = PyRef::borrow(array->shards);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(held.get()); ++i)
    if (!waitFor(asArray(PyTuple_GET_ITEM(held.get(), i))->buffer))
      return false;
  return true;
}

void pcrt::python::deleteShards(ArrayObject *array, const char *why) {
  for (Py_ssize_t i = 0; i < shardCount(array); ++i)
    if (!isDeleted(shard(array, i)->buffer))
      deleteElements(shard(array, i), why);
}

bool pcrt::python::areShardsDeleted(const ArrayObject *array) {
  for (Py_ssize_t i = 0; i < shardCount(array); ++i)
    if (isDeleted(shard(array, i)->buffer))
      return true;
  return false;
}

PyObject *pcrt::python::arrayOfBytes(PyObject *bytes, AvalObject *aval, Device &device) {
  Py_buffer view;
  if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0)
    return nullptr;
  RefPtr<Buffer> buffer;
  if (!aval->isConcrete() || view.len != aval->nbytes)
    PyErr_Format(PyExc_ValueError, "array_of_bytes: %zd bytes are no %S", view.len, aval);
  else
    buffer = allocateBuffer(device, aval, "copying to a device");
  bool filled = buffer && fillBuffer(*buffer, view.buf);
  PyBuffer_Release(&view);
  return filled ? newArray(aval, std::move(buffer), /*committed=*/true) : nullptr;
}

//===-- Functions
//---------------------------------------------------------------------------------------------------===//

static PyObject *shardedArray(PyObject *, PyObject *args) {
  PyObject *aval, *shards, *sharding;
  if (!PyArg_ParseTuple(args, "OO!O:sharded_array", &aval, &PyTuple_Type, &shards, &sharding))
    return nullptr;
  if (!isAval(aval)) {
    PyErr_SetString(PyExc_TypeError, "sharded_array: takes a ShapedArray");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shards); ++i)
    if (!isArray(PyTuple_GET_ITEM(shards, i)) || isSharded(asArray(PyTuple_GET_ITEM(shards, i)))) {
      PyErr_SetString(PyExc_TypeError, "sharded_array: a shard is not an array of one device");
      return nullptr;
    } else if (!ensureElements(asArray(PyTuple_GET_ITEM(shards, i)))) {
      return nullptr;
    }
  // New arrays: the caller may delete the given ones, perhaps of another sharded array.
  PyRef own = shareAll(shards);
  PyRef made = own ? PyRef::steal(newArray(reinterpret_cast<AvalObject *>(aval), noBuffer())) : PyRef();
  if (!made)
    return nullptr;
  asArray(made.get())->shards = own.take();
  asArray(made.get())->sharding = Py_NewRef(sharding);
  asArray(made.get())->committed = true;
  return made.take();
}

static ArrayObject *arrayArgument(PyObject *object, const char *function) {
  if (isArray(object))
    return asArray(object);
  PyErr_Format(PyExc_TypeError, "%s: %R is not an Array", function, Py_TYPE(object));
  return nullptr;
}

static PyObject *shardsOf(PyObject *, PyObject *object) {
  ArrayObject *array = arrayArgument(object, "shards_of");
  if (!array)
    return nullptr;
  return Py_NewRef(array->shards ? array->shards : Py_None);
}

static PyObject *shardingOf(PyObject *, PyObject *object) {
  ArrayObject *array = arrayArgument(object, "sharding_of");
  if (!array)
    return nullptr;
  return Py_NewRef(array->sharding ? array->sharding : Py_None);
}

static PyObject *setAssembler(PyObject *, PyObject *function) {
  if (!PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "set_assembler: not callable");
    return nullptr;
  }
  Py_XSETREF(assembler, Py_NewRef(function));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"sharded_array", shardedArray, METH_VARARGS, "An array of the arrays of several devices."},
    {"shards_of", shardsOf, METH_O, "The arrays of the devices of a sharded array; None for one of a single device."},
    {"sharding_of", shardingOf, METH_O, "The sharding of a sharded array; None for one of a single device."},
    {"set_assembler", setAssembler, METH_O, "Set the function that makes an ndarray of a sharded array."},
    {}};

bool pcrt::python::addShardedFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

// The Python interface of an array: methods and properties, the buffer protocol. Operators are in Operators; Python
// attaches the printing.
#include "call/ArrayType.h"

#include "array/Elements.h"
#include "array/Pending.h"
#include "array/Sharded.h"
#include "call/Operators.h"
#include "support/Wait.h"
#include "types/Ndarray.h"

#include <structmember.h>
#include <vector>

using namespace pcrt;
using namespace pcrt::python;

//===-- The location and the state of elements
//-------------------------------------------------------------------------------------===//

namespace {
/// The operations of methods on arrays in one state. On failure they return false, null or -1 with an exception.
struct ArrayState {
  /// The elements are in one buffer, or will be.
  bool isWhole;
  /// Whether a read would not wait: 1, 0 or -1.
  int (*isReady)(ArrayObject *array);
  /// Waits until a read would not wait.
  bool (*wait)(ArrayObject *array);
  /// Starts copying the elements to the memory where a read needs them.
  bool (*fetch)(ArrayObject *array);
  PyRef (*toNumpy)(ArrayObject *array);
  void (*giveBack)(ArrayObject *array, const char *why);
  /// Whether they, or a part of them, were released.
  bool (*isGone)(const ArrayObject *array);
};
} // namespace

static bool fetchWhole(ArrayObject *array) { return hostElements(array) != nullptr; }
static void giveWholeBack(ArrayObject *array, const char *why) {
  if (!isDeleted(array->buffer))
    deleteElements(array, why);
}
static bool isWholeGone(const ArrayObject *array) { return isDeleted(array->buffer); }

/// For elements in one buffer, which is filled or will be.
static int isPlainReady(ArrayObject *array) { return array->buffer->isReady(); }
static bool waitForPlain(ArrayObject *array) { return waitFor(array->buffer); }

/// Made at their first use; a query is a use.
static int isMadeReady(ArrayObject *array) { return ensureElements(array) ? array->buffer->isReady() : -1; }
static bool waitForMade(ArrayObject *array) { return ensureElements(array) && waitFor(array->buffer); }

/// For a size that depends on data. If the size is not known, neither are the elements.
static int isPendingReady(ArrayObject *array) {
  bool isKnown = false;
  if (!isSizeKnown(array, isKnown))
    return -1;
  return isKnown ? isMadeReady(array) : 0;
}

/// For elements in several buffers, one for each device.
static int isShardedReady(ArrayObject *array) { return areShardsReady(array); }
static bool fetchShards(ArrayObject *) { return true; }
static PyRef assembled(ArrayObject *array) { return PyRef::steal(assemble(array)); }

static constexpr ArrayState plain = {true,        isPlainReady,  waitForPlain, fetchWhole,
                                     viewAsNumpy, giveWholeBack, isWholeGone};
static constexpr ArrayState deferredState = {true,        isMadeReady,   waitForMade, fetchWhole,
                                             viewAsNumpy, giveWholeBack, isWholeGone};
static constexpr ArrayState pendingState = {true,        isPendingReady, waitForMade, fetchWhole,
                                            viewAsNumpy, giveWholeBack,  isWholeGone};
static constexpr ArrayState shardedState = {false,     isShardedReady, waitForShards,   fetchShards,
                                            assembled, deleteShards,   areShardsDeleted};

static const ArrayState &stateOf(const ArrayObject *array) {
  if (isSharded(array))
    return shardedState;
  if (array->pendingSize)
    return pendingState;
  return severalDevices && isDeferred(array->buffer) ? deferredState : plain;
}

//===-- Methods
//-----------------------------------------------------------------------------------------------------===//

static PyObject *isReady(PyObject *self, PyObject *) {
  int answer = stateOf(asArray(self)).isReady(asArray(self));
  return answer < 0 ? nullptr : PyBool_FromLong(answer);
}

static PyObject *copyToHostAsync(PyObject *self, PyObject *) {
  return stateOf(asArray(self)).fetch(asArray(self)) ? Py_NewRef(Py_None) : nullptr;
}

static PyObject *deleteArray(PyObject *self, PyObject *) {
  stateOf(asArray(self))
      .giveBack(asArray(self), "this array, or an array that it was computed from, was deleted by delete()");
  Py_RETURN_NONE;
}

static PyObject *isArrayDeleted(PyObject *self, PyObject *) {
  return PyBool_FromLong(stateOf(asArray(self)).isGone(asArray(self)));
}

static PyObject *blockUntilReady(PyObject *self, PyObject *) {
  return stateOf(asArray(self)).wait(asArray(self)) ? Py_NewRef(self) : nullptr;
}

static int getBuffer(PyObject *self, Py_buffer *view, int flags) {
  ArrayObject *array = asArray(self);
  view->obj = nullptr;
  if (!ensureSize(array))
    return -1;
  AvalObject *aval = array->aval;
  const char *format = formatOf(aval->code);
  if (!stateOf(array).isWhole) {
    // NumPy calls __array__ then.
    PyErr_SetString(PyExc_BufferError, "the elements are in several buffers; use np.asarray");
    return -1;
  }
  if (!format) {
    PyErr_Format(PyExc_BufferError, "%s has no buffer format; use np.asarray", name(aval->code));
    return -1;
  }
  if (flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "arrays are immutable: the buffer is read-only");
    return -1;
  }
  Buffer *elements = hostElements(array);
  if (!elements)
    return -1;
  if (!waitFor(elements)) {
    if (!elements->isReady())
      keepInterruption(array);
    return -1;
  }
  view->buf = elements->data();
  view->len = aval->nbytes;
  view->itemsize = static_cast<Py_ssize_t>(byteSize(aval->code));
  view->readonly = 1;
  view->format = flags & PyBUF_FORMAT ? const_cast<char *>(format) : nullptr;
  view->ndim = static_cast<int>(aval->rank());
  view->shape = flags & PyBUF_ND ? aval->dims : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? aval->dims + aval->rank() : nullptr;
  view->suboffsets = nullptr;
  // The memory stays if the array is deleted or donated meanwhile.
  elements->retain();
  elements->exports.fetch_add(1, std::memory_order_relaxed);
  view->internal = elements;
  view->obj = Py_NewRef(self);
  return 0;
}

static void releaseBuffer(PyObject *, Py_buffer *view) {
  auto *buffer = static_cast<Buffer *>(view->internal);
  buffer->exports.fetch_sub(1, std::memory_order_relaxed);
  buffer->release();
}

/// `set_failed_read`. Null until Python sets it.
static PyObject *failedRead = nullptr;

/// The result of `__array__` after a failure: by `failedRead`, or null with the exception.
static PyObject *afterFailedRead(PyObject *self) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyRef answer = failedRead ? PyRef::steal(PyObject_CallFunctionObjArgs(failedRead, self, value, nullptr)) : PyRef();
  if (!answer || answer.get() == Py_None) {
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return answer.take();
}

static PyObject *setFailedRead(PyObject *, PyObject *function) {
  if (!PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "set_failed_read: not callable");
    return nullptr;
  }
  Py_XSETREF(failedRead, Py_NewRef(function));
  Py_RETURN_NONE;
}

static PyObject *toNumpy(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", const_cast<char **>(names), &dtype, &copy))
    return nullptr;
  if (raiseInterruption(self))
    return nullptr;
  PyRef result = stateOf(asArray(self)).toNumpy(asArray(self));
  if (!result)
    return afterFailedRead(self);
  if (dtype != Py_None && dtype != asArray(self)->aval->dtype) {
    PyRef converted = PyRef::steal(PyObject_CallMethod(result.get(), "astype", "O", dtype));
    return converted.take();
  }
  return copy == Py_True ? PyObject_CallMethod(result.get(), "copy", nullptr) : result.take();
}

static PyObject *item(PyObject *self, PyObject *) {
  ArrayObject *array = asArray(self);
  if (!ensureSize(array))
    return nullptr;
  if (array->aval->size != 1) {
    PyErr_Format(PyExc_ValueError, "item: %S has %zd elements, not one", array->aval, array->aval->size);
    return nullptr;
  }
  if (!stateOf(array).isWhole) {
    PyRef ndarray = stateOf(array).toNumpy(array);
    return ndarray ? PyObject_CallMethod(ndarray.get(), "item", nullptr) : nullptr;
  }
  Buffer *elements = readableElements(array);
  if (!elements)
    return nullptr;
  const void *data = elements->data();
  switch (array->aval->code) {
  case DType::Bool:
    return PyBool_FromLong(*static_cast<const uint8_t *>(data));
  case DType::Int32:
    return PyLong_FromLong(*static_cast<const int32_t *>(data));
  case DType::Int64:
    return PyLong_FromLong(*static_cast<const int64_t *>(data));
  case DType::Float32:
    return PyFloat_FromDouble(static_cast<double>(*static_cast<const float *>(data)));
  case DType::Float64:
    return PyFloat_FromDouble(*static_cast<const double *>(data));
  case DType::Complex64: {
    const auto *parts = static_cast<const float *>(data);
    return PyComplex_FromDoubles(static_cast<double>(parts[0]), static_cast<double>(parts[1]));
  }
  case DType::Complex128: {
    const auto *parts = static_cast<const double *>(data);
    return PyComplex_FromDoubles(parts[0], parts[1]);
  }
  default: {
    PyRef ndarray = viewAsNumpy(array);
    return ndarray ? PyObject_CallMethod(ndarray.get(), "item", nullptr) : nullptr;
  }
  }
}

//===-- The type
//----------------------------------------------------------------------------------------------------===//

// Properties that are the aval's.
static PyObject *getAval(PyObject *self, void *) {
  return ensureDims(asArray(self)) ? Py_NewRef(reinterpret_cast<PyObject *>(asArray(self)->aval)) : nullptr;
}
static PyObject *getShape(PyObject *self, void *) {
  return ensureDims(asArray(self)) ? Py_NewRef(asArray(self)->aval->shape) : nullptr;
}
static PyObject *getMaxShape(PyObject *self, void *) {
  ArrayObject *array = asArray(self);
  return Py_NewRef(array->maxShape ? array->maxShape : array->aval->shape);
}
static PyObject *getDType(PyObject *self, void *) { return Py_NewRef(asArray(self)->aval->dtype); }
static PyObject *getWeakType(PyObject *self, void *) { return PyBool_FromLong(asArray(self)->aval->weakType); }
static PyObject *getRank(PyObject *self, void *) { return PyLong_FromSsize_t(asArray(self)->aval->rank()); }
static PyObject *getSize(PyObject *self, void *) {
  return ensureDims(asArray(self)) ? PyLong_FromSsize_t(asArray(self)->aval->size) : nullptr;
}
static PyObject *getBytes(PyObject *self, void *) {
  return ensureDims(asArray(self)) ? PyLong_FromSsize_t(asArray(self)->aval->nbytes) : nullptr;
}
static PyObject *getDevice(PyObject *self, void *) {
  ArrayObject *array = asArray(self);
  // With only one device, the result is known.
  if (severalDevices && !ensureSize(array))
    return nullptr;
  return Py_NewRef(array->sharding ? array->sharding : deviceObject(*array->buffer->device()));
}
static PyObject *getCommitted(PyObject *self, void *) {
  if (severalDevices && !ensureSize(asArray(self)))
    return nullptr;
  return PyBool_FromLong(asArray(self)->committed);
}

static PyGetSetDef arrayProperties[] = {
    {"aval", getAval, nullptr, "Shape, dtype and weak type.", nullptr},
    {"shape", getShape, nullptr, "The dimensions, a tuple. Waits if they depend on data.", nullptr},
    {"max_shape", getMaxShape, nullptr,
     "The maximum of each dimension: the shape, unless that depends on data. Never waits. None for a dimension "
     "without a bound.",
     nullptr},
    {"dtype", getDType, nullptr, "The element type.", nullptr},
    {"weak_type", getWeakType, nullptr, "Whether the element type gives way to others.", nullptr},
    {"ndim", getRank, nullptr, "Number of dimensions.", nullptr},
    {"size", getSize, nullptr, "Number of elements.", nullptr},
    {"nbytes", getBytes, nullptr, "Bytes of the elements.", nullptr},
    {"device", getDevice, nullptr, "Where the elements are: a device, or the sharding over several.", nullptr},
    {"committed", getCommitted, nullptr,
     "Whether the program chose its device: results computed from it are there, too.", nullptr},
    {}};

static PyMethodDef functions[] = {
    {"set_failed_read", setFailedRead, METH_O, "Set the function that answers reads for NumPy's comparisons."}, {}};

static PyMemberDef arrayMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weakReferences), READONLY, nullptr}, {}};

static PyMethodDef arrayMethods[] = {
    {"is_ready", isReady, METH_NOARGS, "Whether a read would not wait."},
    {"block_until_ready", blockUntilReady, METH_NOARGS,
     "Wait, raise the failure of its computation, return the array."},
    {"delete", deleteArray, METH_NOARGS, "Give the memory back now; a later read of the array is an error."},
    {"is_deleted", isArrayDeleted, METH_NOARGS, "Whether delete() was called, or the array was donated."},
    {"copy_to_host_async", copyToHostAsync, METH_NOARGS,
     "copy_to_host_async($self, /)\n--\n\nBegin to copy the elements to host memory, for a later read."},
    {"item", item, METH_NOARGS, "The only element as a Python scalar."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(toNumpy)), METH_VARARGS | METH_KEYWORDS,
     "The elements as a read-only ndarray."},
    {}};

static PyType_Slot arraySlots[] = {
    {Py_tp_doc, const_cast<char *>("An array whose computation may not have ended: shape and dtype never wait, "
                                   "except for\na size that depends on data.")},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateArray)},
    {Py_tp_hash, reinterpret_cast<void *>(PyObject_HashNotImplemented)},
    {Py_tp_getset, arrayProperties},
    {Py_tp_members, arrayMembers},
    {Py_tp_methods, arrayMethods},
    {Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void *>(releaseBuffer)},
    {}};

/// Python's error for an unhashable object, with advice.
static Py_hash_t hashArray(PyObject *self) {
  Py_ssize_t rank = asArray(self)->aval->rank();
  const char *elements = rank == 0 ? "x.item()" : rank == 1 ? "tuple(x.tolist())" : "(x.shape, x.tobytes())";
  PyErr_Format(
      PyExc_TypeError,
      "unhashable type: '%s': an array is no key of a dict and no member of a set; use its elements, as %s, or "
      "id(x)",
      Py_TYPE(self)->tp_name, elements);
  return -1;
}

bool pcrt::python::addArrayType(PyObject *module) {
  std::vector<PyType_Slot> slots;
  for (const PyType_Slot *slot = arraySlots; slot->slot; ++slot)
    slots.push_back(*slot);
  for (const PyType_Slot *slot = operatorSlots(); slot->slot; ++slot)
    slots.push_back(*slot);
  slots.push_back({});
  PyType_Spec spec = {"pycompiler._runtime.Array", sizeof(ArrayObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  arrayType = addType(module, spec);
  if (!arrayType)
    return false;
  // Behind `__hash__`, which stays None: so `isinstance(x, Hashable)` is false, which libraries test.
  arrayType->tp_hash = hashArray;
  return PyModule_AddFunctions(module, functions) == 0 && setArrayClass();
}

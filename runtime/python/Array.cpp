// Array: making, reading, the buffer protocol. Its operators are in Operators; printing is attached from Python.
#include "Array.h"

#include "Call.h"
#include "Operators.h"
#include "Placement.h"
#include "Sharded.h"
#include "Unsized.h"
#include "runtime/Profile.h"

#include <string>
#include <structmember.h>
#include <vector>

using namespace pcrt;
using namespace pcrt::python;

PyTypeObject *pcrt::python::arrayType = nullptr;

static long long liveCount = 0;
/// The ring's own link: the oldest array follows it, the newest is before it.
static LiveLink ring = {&ring, &ring};

long long pcrt::python::liveArrayCount() { return liveCount; }

static ArrayObject *arrayOf(LiveLink *link) {
  return reinterpret_cast<ArrayObject *>(reinterpret_cast<char *>(link) - offsetof(ArrayObject, live));
}

PyObject *pcrt::python::listArrays() {
  // The list is made first: its memory may be had by a collection, which ends arrays.
  PyRef list = PyRef::steal(PyList_New(liveCount));
  Py_ssize_t count = 0;
  for (LiveLink *link = ring.next; list && link != &ring && count < PyList_GET_SIZE(list.get()); link = link->next)
    PyList_SET_ITEM(list.get(), count++, Py_NewRef(reinterpret_cast<PyObject *>(arrayOf(link))));
  if (list && count < PyList_GET_SIZE(list.get()) &&
      PyList_SetSlice(list.get(), count, PyList_GET_SIZE(list.get()), nullptr) < 0)
    return nullptr;
  return list.take();
}

bool pcrt::python::isHeldByArray(const Buffer *buffer) {
  for (LiveLink *link = ring.next; link != &ring; link = link->next)
    if (arrayOf(link)->buffer == buffer)
      return true;
  return false;
}

//===-- Making
//------------------------------------------------------------------------------------------------------===//

/// Dead objects, kept for the next arrays: their header is set up already.
static constexpr int freeListLimit = 256;
static PyObject *freeList[freeListLimit];
static int freeCount = 0;

PyObject *pcrt::python::newArray(AvalObject *aval, RefPtr<Buffer> buffer, bool committed) {
  PyObject *self;
  if (freeCount > 0) {
    self = freeList[--freeCount];
    PyObject_Init(self, arrayType);
  } else {
    self = arrayType->tp_alloc(arrayType, 0);
    if (!self)
      return nullptr;
  }
  ArrayObject *array = asArray(self);
  Py_INCREF(aval);
  array->aval = aval;
  array->buffer = buffer.take();
  array->onHost = nullptr;
  array->weakReferences = nullptr;
  array->sharding = array->shards = nullptr;
  array->unsized = array->mostShape = nullptr;
  array->committed = committed;
  array->isMarked = false;
  array->live = {ring.previous, &ring};
  ring.previous->next = &array->live;
  ring.previous = &array->live;
  ++liveCount;
  return self;
}

static void deallocateArray(PyObject *self) {
  ArrayObject *array = asArray(self);
  array->live.previous->next = array->live.next;
  array->live.next->previous = array->live.previous;
  --liveCount;
  if (array->weakReferences)
    PyObject_ClearWeakRefs(self);
  Py_DECREF(array->aval);
  array->buffer->release();
  if (array->onHost)
    array->onHost->release();
  Py_XDECREF(array->sharding);
  Py_XDECREF(array->shards);
  Py_XDECREF(array->unsized);
  Py_XDECREF(array->mostShape);
  PyTypeObject *type = Py_TYPE(self);
  if (freeCount < freeListLimit)
    freeList[freeCount++] = self;
  else
    type->tp_free(self);
  Py_DECREF(type);
}

/// "f32[3,4]", as messages show avals; without asking Python, whose lock is not to be given up here.
static std::string shortText(const AvalObject *aval) {
  static constexpr std::pair<const char *, const char *> prefixes[] = {
      {"bfloat", "bf"}, {"float", "f"}, {"complex", "c"}, {"uint", "u"}, {"int", "i"}};
  std::string text = name(aval->code);
  for (auto [prefix, letter] : prefixes) {
    if (text.rfind(prefix, 0) == 0) {
      text.replace(0, std::strlen(prefix), letter);
      break;
    }
  }
  for (Py_ssize_t i = 0; i < aval->rank(); ++i)
    text += (i == 0 ? "[" : ",") + std::to_string(aval->dims[i]);
  return text + (aval->rank() == 0 ? "[]" : "]");
}

/// Keeps of a large block who made it, for when memory ends.
[[gnu::noinline]] static void noteMaker(Buffer &buffer, const AvalObject *aval, const char *what) {
  const char *place = launchPlace();
  buffer.device()->memory().note(buffer, shortText(aval) + " made" + (place ? std::string(" at ") + place : "") +
                                             " by " + what);
}

RefPtr<Buffer> pcrt::python::allocateBuffer(Device &device, AvalObject *aval, const char *what) {
  auto bytes = static_cast<size_t>(aval->nbytes);
  Result<RefPtr<Buffer>> buffer = device.memory().allocate(bytes);
  if (!buffer.isOk() && device.stream().callsInFlight() > 0) {
    // What is in flight keeps memory that its end gives back.
    WithoutGil released;
    device.stream().synchronize();
    buffer = device.memory().allocate(bytes);
  }
  if (buffer.isOk()) {
    if (bytes >= BufferPool::listedBytes)
      noteMaker(*buffer.value(), aval, what);
    return buffer.take();
  }
  PyRef text = PyRef::steal(PyObject_Str(reinterpret_cast<PyObject *>(aval)));
  if (text)
    PyErr_Format(PyExc_MemoryError, "%s (%U): %s", what, text.get(), buffer.status().message().c_str());
  return nullptr;
}

bool pcrt::python::dtypeOfFormat(const char *format, DType &dtype) {
  if (!format || !format[0])
    return false;
  // Arrays that are not aligned to their element are in the order of this machine, but in the sizes of the standard.
  if (format[0] == '=') {
    const char letter = format[1] == 'l' ? 'i' : format[1] == 'L' ? 'I' : format[1];
    const char native[] = {letter, letter == 'Z' ? format[2] : '\0', '\0'};
    return letter != '=' && dtypeOfFormat(native, dtype);
  }
  if (format[0] == 'Z' && format[1] && !format[2]) {
    dtype = format[1] == 'f' ? DType::Complex64 : DType::Complex128;
    return format[1] == 'f' || format[1] == 'd';
  }
  if (format[1])
    return false;
  // As NumPy writes them on LP64, where long long is as wide as long.
  static const char letters[] = "?bhilBHIL";
  if (format[0] == 'q')
    dtype = DType::Int64;
  else if (format[0] == 'Q')
    dtype = DType::UInt64;
  else if (const char *found = std::strchr(letters, format[0]))
    dtype = static_cast<DType>(found - letters);
  else if (format[0] == 'e')
    dtype = DType::Float16;
  else if (format[0] == 'f')
    dtype = DType::Float32;
  else if (format[0] == 'd')
    dtype = DType::Float64;
  else
    return false;
  return true;
}

/// Whether NumPy exports no buffer of this dtype, one of ml_dtypes: then its bits are looked at as unsigned integers.
static bool isForeign(DType dtype) {
  return dtype == DType::BFloat16 || static_cast<int>(dtype) > static_cast<int>(DType::Complex128);
}

/// Whether a buffer, of an ndarray or of its bits, has the aval's shape and dtype.
static bool isOf(AvalObject *aval, PyObject *ndarray, const Py_buffer &view) {
  DType dtype;
  if (isForeign(aval->code)) {
    PyRef object = PyRef::steal(PyObject_GetAttrString(ndarray, "dtype"));
    if (!object || !knownDType(object.get(), dtype) || dtype != aval->code) {
      PyErr_Clear();
      return false;
    }
  } else if (!dtypeOfFormat(view.format, dtype) || dtype != aval->code) {
    return false;
  }
  return view.ndim == aval->rank() &&
         std::memcmp(view.shape, aval->dims, static_cast<size_t>(view.ndim) * sizeof(Py_ssize_t)) == 0;
}

/// Copies of this size go on without the GIL.
static constexpr size_t largeCopy = 1 << 20;

static Status copyInto(Buffer &buffer, const void *bytes) {
  if (!buffer.isHostReadable())
    return buffer.device()->write(buffer.data(), bytes, buffer.size());
  std::memcpy(buffer.data(), bytes, buffer.size());
  return Status::ok();
}

bool pcrt::python::fillBuffer(Buffer &buffer, const void *bytes) {
  Status status;
  if (buffer.size() >= largeCopy) {
    WithoutGil released;
    status = copyInto(buffer, bytes);
  } else {
    status = copyInto(buffer, bytes);
  }
  if (!status.isOk())
    raise(status, "");
  return status.isOk();
}

PyObject *pcrt::python::arrayFromNumpy(PyObject *ndarray, AvalObject *aval) {
  if (!aval->isConcrete()) {
    PyErr_SetString(PyExc_ValueError, "array_from_numpy: the aval has symbols for dimensions");
    return nullptr;
  }
  const char *bits = byteSize(aval->code) == 2 ? "uint16" : "uint8";
  PyRef source =
      isForeign(aval->code) ? PyRef::steal(PyObject_CallMethod(ndarray, "view", "s", bits)) : PyRef::borrow(ndarray);
  Py_buffer view;
  if (!source || PyObject_GetBuffer(source.get(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
    return nullptr;
  RefPtr<Buffer> buffer;
  ProfileScope scope(ProfileKind::Copy, "copy from numpy");
  if (isOf(aval, ndarray, view))
    buffer = allocateBuffer(defaultDevice(), aval, "copying an ndarray");
  else
    PyErr_Format(PyExc_ValueError, "array_from_numpy: the ndarray is not a %S", aval);
  bool filled = buffer && fillBuffer(*buffer, view.buf);
  PyBuffer_Release(&view);
  return filled ? newArray(aval, std::move(buffer)) : nullptr;
}

//===-- Reading
//-----------------------------------------------------------------------------------------------------===//

static PyObject *isReady(PyObject *self, PyObject *) {
  ArrayObject *array = asArray(self);
  if (isSharded(array))
    return PyBool_FromLong(areShardsReady(array));
  // Where the size is not known, the elements are not.
  bool isSizeReady = true;
  if (array->unsized && !isSizeKnown(array, isSizeReady))
    return nullptr;
  if (!isSizeReady)
    Py_RETURN_FALSE;
  return ensureElements(array) ? PyBool_FromLong(array->buffer->isReady()) : nullptr;
}

/// The memory of arrays that were deleted.
static char nothing[PCRT_ALIGNMENT];

bool pcrt::python::isDeleted(const Buffer *buffer) { return buffer->data() == nothing; }

void pcrt::python::deleteElements(ArrayObject *array, std::string why) {
  auto error = RefPtr<Error>::adopt(new Error(Code::InvalidArgument, std::move(why), "Array", ""));
  // What stands in for the buffer: a read of it, and of what is computed from it, fails.
  RefPtr<Buffer> made = Buffer::wrap(array->buffer->device(), nothing, 0, nullptr, nullptr);
  made->setToken(Token::failed(std::move(error)));
  std::exchange(array->buffer, made.take())->release();
  if (Buffer *copy = std::exchange(array->onHost, nullptr))
    copy->release();
  forgetSize(array);
}

/// The elements where the host can read them, perhaps on their way there. Borrowed; null with an exception.
static Buffer *hostElements(ArrayObject *array) {
  if (!ensureElements(array))
    return nullptr;
  if (array->buffer->isHostReadable() || isDeleted(array->buffer))
    return array->buffer;
  if (!array->onHost) {
    if (!allowTransfer(Transfer::DeviceToHost, reinterpret_cast<PyObject *>(array->aval), Device::cpu()))
      return nullptr;
    RefPtr<Buffer> copy = copyTo(Device::cpu(), array->aval, *array->buffer);
    if (!copy)
      return nullptr;
    // Another thread may have done the same meanwhile.
    if (!array->onHost)
      array->onHost = copy.take();
  }
  return array->onHost;
}

Buffer *pcrt::python::readableElements(ArrayObject *array) {
  Buffer *elements = hostElements(array);
  return elements && waitFor(elements) ? elements : nullptr;
}

static PyObject *copyToHostAsync(PyObject *self, PyObject *) {
  if (!isSharded(asArray(self)) && !hostElements(asArray(self)))
    return nullptr;
  Py_RETURN_NONE;
}

static PyObject *deleteArray(PyObject *self, PyObject *) {
  static const char why[] = "this array, or an array that it was computed from, was deleted by delete()";
  if (isSharded(asArray(self)))
    deleteShards(asArray(self), why);
  else if (!isDeleted(asArray(self)->buffer))
    deleteElements(asArray(self), why);
  Py_RETURN_NONE;
}

static PyObject *isArrayDeleted(PyObject *self, PyObject *) {
  ArrayObject *array = asArray(self);
  return PyBool_FromLong(isSharded(array) ? areShardsDeleted(array) : isDeleted(array->buffer));
}

static PyObject *blockUntilReady(PyObject *self, PyObject *) {
  ArrayObject *array = asArray(self);
  bool done = isSharded(array) ? waitForShards(array) : ensureElements(array) && waitFor(array->buffer);
  return done ? Py_NewRef(self) : nullptr;
}

/// NumPy's format of a dtype, or null: the struct module's letter but for complex numbers. On LP64 "l" is NumPy's own
/// int64.
static const char *formatOf(DType dtype) {
  static const char *const formats[] = {"?", "b", "h",     "i", "l", "B",  "H", "I",
                                        "L", "e", nullptr, "f", "d", "Zf", "Zd"};
  constexpr int count = sizeof(formats) / sizeof(formats[0]);
  static_assert(count == static_cast<int>(DType::Complex128) + 1 && sizeof(long) == 8);
  return isForeign(dtype) ? nullptr : formats[static_cast<int>(dtype)];
}

static int getBuffer(PyObject *self, Py_buffer *view, int flags) {
  ArrayObject *array = asArray(self);
  view->obj = nullptr;
  if (!ensureSize(array))
    return -1;
  AvalObject *aval = array->aval;
  const char *format = formatOf(aval->code);
  if (isSharded(array)) {
    // NumPy asks for __array__ then.
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
  // The memory stays when the array is deleted or donated meanwhile.
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

/// A read-only ndarray over the same memory.
static PyRef viewAsNumpy(ArrayObject *array) {
  if (isSharded(array))
    return PyRef::steal(assemble(array));
  static PyObject *const toNdarray = [] {
    PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
    return numpy ? PyObject_GetAttrString(numpy.get(), "asarray") : nullptr;
  }();
  Buffer *elements = toNdarray ? readableElements(array) : nullptr;
  if (!elements)
    return nullptr;
  AvalObject *aval = array->aval;
  if (aval->code == DType::Key) {
    PyErr_Format(PyExc_TypeError, "%S has no elements that NumPy knows: random.key_data(keys) gives their numbers",
                 aval);
    return PyRef();
  }
  if (formatOf(aval->code)) {
    // Through a memoryview: np.asarray on the array itself would come back here.
    PyRef memory = PyRef::steal(PyMemoryView_FromObject(reinterpret_cast<PyObject *>(array)));
    return memory ? PyRef::steal(PyObject_CallOneArg(toNdarray, memory.get())) : nullptr;
  }
  // The same memory as integers, which NumPy then looks at as the registered dtype.
  DType integer = byteSize(aval->code) == 2 ? DType::UInt16 : DType::UInt8;
  PyRef bitsAval =
      PyRef::steal(reinterpret_cast<PyObject *>(internAval(aval->dims, aval->rank(), integer, aval->weakType)));
  if (!bitsAval)
    return nullptr;
  PyRef bits = PyRef::steal(newArray(reinterpret_cast<AvalObject *>(bitsAval.get()), RefPtr<Buffer>(elements)));
  PyRef integers = bits ? PyRef::steal(PyObject_CallOneArg(toNdarray, bits.get())) : PyRef();
  return integers ? PyRef::steal(PyObject_CallMethod(integers.get(), "view", "O", aval->dtype)) : PyRef();
}

static PyObject *toNumpy(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", const_cast<char **>(names), &dtype, &copy))
    return nullptr;
  if (raiseInterruption(self))
    return nullptr;
  PyRef result = viewAsNumpy(asArray(self));
  if (!result)
    return nullptr;
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
  if (isSharded(array)) {
    PyRef ndarray = PyRef::steal(assemble(array));
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
static PyObject *getMostShape(PyObject *self, void *) {
  ArrayObject *array = asArray(self);
  return Py_NewRef(array->mostShape ? array->mostShape : array->aval->shape);
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
  // With one device, it is there.
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
    {"shape", getShape, nullptr, "The dimensions, a tuple. Waits where they depend on data.", nullptr},
    {"max_shape", getMostShape, nullptr,
     "The most that each dimension can be: the shape, unless that depends on data. Never waits. None for a dimension "
     "without a bound.",
     nullptr},
    {"dtype", getDType, nullptr, "The element type.", nullptr},
    {"weak_type", getWeakType, nullptr, "Whether the element type gives way to others.", nullptr},
    {"ndim", getRank, nullptr, "Number of dimensions.", nullptr},
    {"size", getSize, nullptr, "Number of elements.", nullptr},
    {"nbytes", getBytes, nullptr, "Bytes of the elements.", nullptr},
    {"device", getDevice, nullptr, "Where the elements are: a device, or the sharding over several.", nullptr},
    {"committed", getCommitted, nullptr, "Whether it was put there: what is computed from it is there too.", nullptr},
    {}};

static PyMemberDef arrayMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weakReferences), READONLY, nullptr}, {}};

static PyMethodDef arrayMethods[] = {
    {"is_ready", isReady, METH_NOARGS, "Whether a read would not wait."},
    {"block_until_ready", blockUntilReady, METH_NOARGS, "Wait, raise what went wrong, return the array."},
    {"delete", deleteArray, METH_NOARGS, "Give the memory back now; a later read of the array is an error."},
    {"is_deleted", isArrayDeleted, METH_NOARGS, "Whether delete() was called, or the array was donated."},
    {"copy_to_host_async", copyToHostAsync, METH_NOARGS,
     "copy_to_host_async($self, /)\n--\n\nBegin to copy the elements to where a read wants them."},
    {"item", item, METH_NOARGS, "The only element as a Python scalar."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(toNumpy)), METH_VARARGS | METH_KEYWORDS,
     "The elements as a read-only ndarray."},
    {}};

static PyType_Slot arraySlots[] = {
    {Py_tp_doc, const_cast<char *>("An array whose elements may still be being computed: shape and dtype never wait, "
                                   "but for\na size that depends on data.")},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateArray)},
    {Py_tp_hash, reinterpret_cast<void *>(PyObject_HashNotImplemented)},
    {Py_tp_getset, arrayProperties},
    {Py_tp_members, arrayMembers},
    {Py_tp_methods, arrayMethods},
    {Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void *>(releaseBuffer)},
    {}};

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
  return arrayType && setArrayClass();
}

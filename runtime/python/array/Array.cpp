// Creates arrays, manages their memory, and lists those that are alive.
#include "array/Array.h"

#include "runtime/BufferPool.h"
#include "runtime/Stream.h"
#include "support/CallSite.h"
#include "support/Gil.h"
#include "support/Wait.h"

#include <cstring>
#include <string>

using namespace pcrt;
using namespace pcrt::python;

PyTypeObject *pcrt::python::arrayType = nullptr;

static long long liveCount = 0;
/// The ring's own link: the oldest array comes after it, the newest before it.
static LiveLink ring = {&ring, &ring};

long long pcrt::python::liveArrayCount() { return liveCount; }

static ArrayObject *arrayOf(LiveLink *link) {
  return reinterpret_cast<ArrayObject *>(reinterpret_cast<char *>(link) - offsetof(ArrayObject, live));
}

PyObject *pcrt::python::listArrays() {
  // The list is made first: its allocation may run a collection, which destroys arrays.
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

/// Dead objects, kept for later arrays: their headers are set up already.
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
  array->pendingSize = array->maxShape = nullptr;
  array->committed = committed;
  array->isMarked = false;
  array->live = {ring.previous, &ring};
  ring.previous->next = &array->live;
  ring.previous = &array->live;
  ++liveCount;
  return self;
}

void pcrt::python::deallocateArray(PyObject *self) {
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
  Py_XDECREF(array->pendingSize);
  Py_XDECREF(array->maxShape);
  PyTypeObject *type = Py_TYPE(self);
  if (freeCount < freeListLimit)
    freeList[freeCount++] = self;
  else
    type->tp_free(self);
  Py_DECREF(type);
}

/// "f32[3,4]", like avals in messages; without calls of Python, because the GIL must not be released here.
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

/// Records the operation that made a large block, for out-of-memory errors.
[[gnu::noinline]] static void noteMaker(Buffer &buffer, const AvalObject *aval, const char *what) {
  const char *place = callSite();
  buffer.device()->memory().note(buffer, shortText(aval) + " made" + (place ? std::string(" at ") + place : "") +
                                             " by " + what);
}

static const char *firstUse = nullptr;

const char *pcrt::python::firstUseOfDevices() { return firstUse; }

void pcrt::python::noteUseOfDevices() {
  if (firstUse)
    return;
  const char *place = callSite();
  firstUse = place ? place : "";
}

void pcrt::python::waitForFreed(Device &device, AvalObject *aval) {
  auto bytes = static_cast<size_t>(aval->nbytes);
  if (!device.stream().lacksFreed(bytes))
    return;
  WithoutGil released;
  device.stream().waitForFreed(bytes);
}

RefPtr<Buffer> pcrt::python::allocateBuffer(Device &device, AvalObject *aval, const char *what) {
  noteUseOfDevices();
  auto bytes = static_cast<size_t>(aval->nbytes);
  Result<RefPtr<Buffer>> buffer = device.memory().allocate(bytes);
  if (!buffer.isOk() && device.stream().callsInFlight() > 0) {
    // Executions in flight hold memory, and release it when they end.
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

/// Copies from this size on release the GIL.
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

//===-- Deleting
//----------------------------------------------------------------------------------------------------===//

/// The memory of arrays that were deleted.
static char nothing[PCRT_ALIGNMENT];

bool pcrt::python::isDeleted(const Buffer *buffer) { return buffer->data() == nothing; }

/// For a deleted array: its pending size is not needed any more.
static void forgetSize(ArrayObject *array) {
  if (!array->pendingSize)
    return;
  // From here on, an array without a size raises the error of the deletion.
  PyObject *left = array->aval->isConcrete() ? nullptr : Py_NewRef(Py_None);
  Py_XSETREF(array->pendingSize, left);
}

void pcrt::python::deleteElements(ArrayObject *array, std::string why) {
  auto error = RefPtr<Error>::adopt(new Error(Code::InvalidArgument, std::move(why), "Array", ""));
  // Replaces the buffer: reads of it, and of results computed from it, fail.
  RefPtr<Buffer> made = Buffer::wrap(array->buffer->device(), nothing, 0, nullptr, nullptr);
  made->setToken(Token::failed(std::move(error)));
  std::exchange(array->buffer, made.take())->release();
  if (Buffer *copy = std::exchange(array->onHost, nullptr))
    copy->release();
  forgetSize(array);
}

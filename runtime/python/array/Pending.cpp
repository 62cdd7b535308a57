// Arrays that get their size, or their elements, on demand.
#include "array/Pending.h"

#include "array/Copies.h"
#include "array/TransferGuard.h"
#include "runtime/Devices.h"
#include "support/Context.h"
#include "support/Gil.h"
#include "support/Wait.h"

using namespace pcrt;
using namespace pcrt::python;

//===-- Arrays whose size depends on data
//------------------------------------------------------------------------------===//

/// Replaces the buffer: code that reads it without waiting for the size fails, with the reason.
static RefPtr<Buffer> noBuffer() {
  static char nothing[PCRT_ALIGNMENT];
  static Buffer *const placeholder = [] {
    RefPtr<Buffer> made = Buffer::wrap(&Devices::cpu(), nothing, 0, nullptr, nullptr);
    made->setToken(Token::failed(RefPtr<Error>::adopt(
        new Error(Code::InvalidArgument, "an array was read before its size was known", "Array", ""))));
    return made.take();
  }();
  return RefPtr<Buffer>(placeholder);
}

bool pcrt::python::isSizeKnown(ArrayObject *array, bool &isKnown) {
  PyRef maker = PyRef::borrow(array->pendingSize);
  if (maker.get() == Py_None) {
    isKnown = true;
    return true;
  }
  PyRef answer = PyRef::steal(PyObject_CallMethod(maker.get(), "is_ready", nullptr));
  if (!answer)
    return false;
  int truth = PyObject_IsTrue(answer.get());
  isKnown = truth > 0;
  // Then only its memory is looked for.
  return truth >= 0 && (!isKnown || makeSize(array));
}

bool pcrt::python::makeSize(ArrayObject *array) {
  PyRef held = PyRef::borrow(reinterpret_cast<PyObject *>(array));
  PyRef maker = PyRef::borrow(array->pendingSize);
  if (maker.get() == Py_None) {
    raise(*array->buffer->error());
    return false;
  }
  PyObject *trace = std::exchange(currentTrace, nullptr);
  PyRef made = PyRef::steal(PyObject_CallNoArgs(maker.get()));
  currentTrace = trace;
  if (!made)
    return false;
  // Another thread may have made the size, or deleted the array, meanwhile.
  if (array->pendingSize != maker.get())
    return ensureSize(array);
  ArrayObject *whole = isArray(made.get()) ? asArray(made.get()) : nullptr;
  if (!whole || whole == array || whole->pendingSize || whole->aval->code != array->aval->code ||
      whole->aval->rank() != array->aval->rank()) {
    PyErr_Format(PyExc_TypeError, "an array whose size was not known must be a %S, but a %R was made", array->aval,
                 Py_TYPE(made.get()));
    return false;
  }
  if (!ensureElements(whole))
    return false;
  Py_INCREF(whole->aval);
  AvalObject *before = std::exchange(array->aval, whole->aval);
  std::exchange(array->buffer, RefPtr<Buffer>(whole->buffer).take())->release();
  array->committed = whole->committed;
  Py_CLEAR(array->pendingSize);
  Py_DECREF(before);
  return true;
}

static RefPtr<Buffer> madeOn(Device &target, ArrayObject *array);

RefPtr<Buffer> pcrt::python::elementsOn(Device &target, ArrayObject *array) {
  if (!ensureSize(array))
    return nullptr;
  if (isDeferred(array->buffer)) {
    // For another device it is made separately, and the array itself does not change.
    if (array->buffer->device() != &target)
      return madeOn(target, array);
    if (!makeElements(array))
      return nullptr;
  }
  if (array->buffer->device() == &target)
    return RefPtr<Buffer>(array->buffer);
  if (!allowTransfer(Transfer::DeviceToDevice, reinterpret_cast<PyObject *>(array->aval), target))
    return nullptr;
  return copyTo(target, array->aval, *array->buffer);
}

//===-- Arrays that are made at their first use
//------------------------------------------------------------------===//

/// Stands for the memory of arrays that are not made yet.
static char notMade[PCRT_ALIGNMENT];

bool pcrt::python::isDeferred(const Buffer *buffer) { return buffer->data() == notMade; }

static void releaseMaker(void *maker) {
  if (isFinalizing())
    return;
  WithGil gil;
  Py_DECREF(static_cast<PyObject *>(maker));
}

/// Calls the function that makes a deferred array, with `target` as the default device and no active trace.
static RefPtr<Buffer> madeOn(Device &target, ArrayObject *array) {
  PyRef maker = PyRef::borrow(static_cast<PyObject *>(array->buffer->wrappedOwner()));
  PyRef aval = PyRef::borrow(reinterpret_cast<PyObject *>(array->aval));
  PyObject *trace = std::exchange(currentTrace, nullptr);
  PyRef made = [&] {
    DefaultDeviceScope scope(target);
    return PyRef::steal(PyObject_CallNoArgs(maker.get()));
  }();
  currentTrace = trace;
  if (!made)
    return nullptr;
  if (!isArray(made.get()) || isDeferred(asArray(made.get())->buffer) ||
      reinterpret_cast<PyObject *>(asArray(made.get())->aval) != aval.get()) {
    PyErr_Format(PyExc_TypeError, "a deferred array must be a %S, but a %R was made", aval.get(), Py_TYPE(made.get()));
    return nullptr;
  }
  return elementsOn(target, asArray(made.get()));
}

bool pcrt::python::makeElements(ArrayObject *array) {
  PyRef held = PyRef::borrow(reinterpret_cast<PyObject *>(array));
  RefPtr<Buffer> made = madeOn(*array->buffer->device(), array);
  if (!made)
    return false;
  // Another thread may have made it, or deleted the array, meanwhile.
  if (isDeferred(array->buffer))
    std::exchange(array->buffer, made.take())->release();
  return true;
}

static PyObject *deferred(PyObject *, PyObject *args) {
  PyObject *aval, *maker;
  if (!PyArg_ParseTuple(args, "OO:deferred", &aval, &maker))
    return nullptr;
  if (!isAval(aval) || !reinterpret_cast<AvalObject *>(aval)->isConcrete()) {
    PyErr_SetString(PyExc_TypeError, "deferred: takes a concrete ShapedArray and a function");
    return nullptr;
  }
  if (!severalDevices)
    return PyObject_CallNoArgs(maker);
  auto buffer = Buffer::wrap(&defaultDevice(), notMade, 0, releaseMaker, Py_NewRef(maker));
  return newArray(reinterpret_cast<AvalObject *>(aval), std::move(buffer));
}

//===-- Functions
//---------------------------------------------------------------------------------------------------===//

/// pending_size(aval, max_shape, maker)
static PyObject *pendingSize(PyObject *, PyObject *args) {
  PyObject *aval, *maxShape, *maker;
  if (!PyArg_ParseTuple(args, "OO!O:pending_size", &aval, &PyTuple_Type, &maxShape, &maker))
    return nullptr;
  if (!isAval(aval)) {
    PyErr_SetString(PyExc_TypeError, "pending_size: takes a ShapedArray");
    return nullptr;
  }
  PyObject *made = newArray(reinterpret_cast<AvalObject *>(aval), noBuffer());
  if (!made)
    return nullptr;
  asArray(made)->pendingSize = Py_NewRef(maker);
  asArray(made)->maxShape = Py_NewRef(maxShape);
  return made;
}

/// first_rows(array, count): the first rows of an array, in the same memory.
static PyObject *firstRows(PyObject *, PyObject *args) {
  PyObject *object;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(args, "O!n:first_rows", arrayType, &object, &count))
    return nullptr;
  ArrayObject *array = asArray(object);
  if (!ensureElements(array))
    return nullptr;
  AvalObject *aval = array->aval;
  if (aval->rank() == 0 || count < 0 || count > aval->dims[0])
    return PyErr_Format(PyExc_ValueError, "first_rows: %zd of %S", count, aval);
  if (isDeleted(array->buffer)) {
    raise(*array->buffer->error());
    return nullptr;
  }
  PyRef part = PyRef::steal(reinterpret_cast<PyObject *>(avalOfRows(aval, count)));
  if (!part)
    return nullptr;
  auto *rows = reinterpret_cast<AvalObject *>(part.get());
  auto bytes = static_cast<size_t>(rows->nbytes);
  Buffer &all = *array->buffer;
  if (count == aval->dims[0])
    return newArray(rows, RefPtr<Buffer>(&all), array->committed);
  bool isHere = all.isHostReadable() && all.isReady() && !all.error();
  if (!isHere || Buffer::isWorthViewing(bytes, all.size()))
    return newArray(rows, Buffer::view(all, 0, bytes), array->committed);
  // A few rows must not keep the memory of all alive.
  RefPtr<Buffer> held(&all), few = allocateBuffer(*all.device(), rows, "the first rows");
  if (!few)
    return nullptr;
  std::memcpy(few->data(), held->data(), bytes);
  return newArray(rows, std::move(few), array->committed);
}

static PyMethodDef functions[] = {
    {"pending_size", pendingSize, METH_VARARGS,
     "pending_size(aval, max_shape, maker): an array with symbols in its aval, and at most of that shape, which "
     "maker()\nreturns; maker.is_ready() says whether that would not wait."},
    {"deferred", deferred, METH_VARARGS, "deferred(aval, make): an array that is made on the device of its first use."},
    {"first_rows", firstRows, METH_VARARGS, "first_rows(array, count): its first rows, in the same memory."},
    {}};

bool pcrt::python::addPendingFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

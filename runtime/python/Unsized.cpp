// Arrays whose size depends on data: made with a bound, and given their size and elements when somebody asks.
#include "Unsized.h"

#include "Context.h"
#include "Placement.h"

using namespace pcrt;
using namespace pcrt::python;

/// In the place of a buffer: what reads it without asking for the size fails, and says why.
static RefPtr<Buffer> noBuffer() {
  static char nothing[PCRT_ALIGNMENT];
  static Buffer *const placeholder = [] {
    RefPtr<Buffer> made = Buffer::wrap(&Device::cpu(), nothing, 0, nullptr, nullptr);
    made->setToken(Token::failed(RefPtr<Error>::adopt(
        new Error(Code::InvalidArgument, "an array was read before its size was known", "Array", ""))));
    return made.take();
  }();
  return RefPtr<Buffer>(placeholder);
}

bool pcrt::python::isSizeKnown(ArrayObject *array, bool &isKnown) {
  PyRef maker = PyRef::borrow(array->unsized);
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

void pcrt::python::forgetSize(ArrayObject *array) {
  if (!array->unsized)
    return;
  // The error of the deletion is what an array without a size answers from here on.
  PyObject *left = array->aval->isConcrete() ? nullptr : Py_NewRef(Py_None);
  Py_XSETREF(array->unsized, left);
}

bool pcrt::python::makeSize(ArrayObject *array) {
  PyRef held = PyRef::borrow(reinterpret_cast<PyObject *>(array));
  PyRef maker = PyRef::borrow(array->unsized);
  if (maker.get() == Py_None) {
    raise(*array->buffer->error());
    return false;
  }
  PyObject *trace = std::exchange(currentTrace, nullptr);
  PyRef made = PyRef::steal(PyObject_CallNoArgs(maker.get()));
  currentTrace = trace;
  if (!made)
    return false;
  // Another thread may have asked, or deleted the array, meanwhile.
  if (array->unsized != maker.get())
    return ensureSize(array);
  ArrayObject *whole = isArray(made.get()) ? asArray(made.get()) : nullptr;
  if (!whole || whole == array || whole->unsized || whole->aval->code != array->aval->code ||
      whole->aval->rank() != array->aval->rank()) {
    PyErr_Format(PyExc_TypeError, "an array whose size was not known is to be a %S, made was %R", array->aval,
                 Py_TYPE(made.get()));
    return false;
  }
  if (!ensureElements(whole))
    return false;
  Py_INCREF(whole->aval);
  AvalObject *before = std::exchange(array->aval, whole->aval);
  std::exchange(array->buffer, RefPtr<Buffer>(whole->buffer).take())->release();
  array->committed = whole->committed;
  Py_CLEAR(array->unsized);
  Py_DECREF(before);
  return true;
}

//===-- Functions
//---------------------------------------------------------------------------------------------------===//

/// unsized(aval, most, maker)
static PyObject *unsized(PyObject *, PyObject *args) {
  PyObject *aval, *most, *maker;
  if (!PyArg_ParseTuple(args, "OO!O:unsized", &aval, &PyTuple_Type, &most, &maker))
    return nullptr;
  if (!isAval(aval)) {
    PyErr_SetString(PyExc_TypeError, "unsized: takes a ShapedArray");
    return nullptr;
  }
  PyObject *made = newArray(reinterpret_cast<AvalObject *>(aval), noBuffer());
  if (!made)
    return nullptr;
  asArray(made)->unsized = Py_NewRef(maker);
  asArray(made)->mostShape = Py_NewRef(most);
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
  // A few rows do not keep the memory of all.
  RefPtr<Buffer> held(&all), few = allocateBuffer(*all.device(), rows, "the first rows");
  if (!few)
    return nullptr;
  std::memcpy(few->data(), held->data(), bytes);
  return newArray(rows, std::move(few), array->committed);
}

static PyMethodDef functions[] = {
    {"unsized", unsized, METH_VARARGS,
     "unsized(aval, most, maker): an array with symbols in its aval, and at most of the shape `most`, that is what "
     "maker()\nreturns; maker.is_ready() says whether that would not wait."},
    {"first_rows", firstRows, METH_VARARGS, "first_rows(array, count): its first rows, in the same memory."},
    {}};

bool pcrt::python::addUnsizedFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

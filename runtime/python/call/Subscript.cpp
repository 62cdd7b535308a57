// x[i], x[i, j], x[a:b]: rows, elements and runs of rows are copied here, if they are ready and small. Large ones are
// views.
#include "call/Subscript.h"

#include "array/Pending.h"
#include "array/Share.h"
#include "support/Context.h"

using namespace pcrt;
using namespace pcrt::python;

/// Larger results are left to compiled code, which releases the GIL if it takes long.
static constexpr Py_ssize_t largestCopy = 4096;

//===-- Whether it may be done here
//-----------------------------------------------------------------------------------------------------===//

/// Returns whether results are checked (for example for nans), which this path does not do.
static PyObject *isWatched = nullptr;
/// The context key of its last negative answer.
static PyObject *unwatched = nullptr;

/// Also false if the query failed: the general path fails in the same way.
[[gnu::noinline]] static bool learnContext() {
  PyRef answer = PyRef::steal(isWatched ? PyObject_CallNoArgs(isWatched) : nullptr);
  PyErr_Clear();
  if (!answer || answer.get() != Py_False)
    return false;
  Py_XSETREF(unwatched, Py_NewRef(contextKey()));
  return true;
}

//===-- Indices
//-----------------------------------------------------------------------------------------------------===//

/// The position along an axis for an index; false if it is not an int, or is out of range.
static bool readIndex(PyObject *index, Py_ssize_t size, Py_ssize_t &place) {
  if (!PyLong_CheckExact(index))
    return false;
  int overflow;
  Py_ssize_t value = PyLong_AsLongAndOverflow(index, &overflow);
  place = value < 0 ? value + size : value;
  return !overflow && place >= 0 && place < size;
}

/// An end of a slice, by Python's rules; false if it is neither None nor an int.
static bool readEnd(PyObject *end, Py_ssize_t size, Py_ssize_t ifNone, Py_ssize_t &place) {
  place = ifNone;
  if (end == Py_None)
    return true;
  if (!PyLong_CheckExact(end))
    return false;
  int overflow;
  Py_ssize_t value = PyLong_AsLongAndOverflow(end, &overflow);
  if (overflow)
    return false;
  value = value < 0 ? value + size : value;
  place = value < 0 ? 0 : value > size ? size : value;
  return true;
}

/// The aval of x[i], borrowed: cached in that of x. Null with an exception.
static AvalObject *rowOf(AvalObject *aval) {
  if (!aval->row)
    aval->row = internAval(aval->dims + 1, aval->rank() - 1, aval->code, aval->weakType);
  return aval->row;
}

namespace {
/// A part of an array during the evaluation of the indices.
struct Part {
  AvalObject *aval; // borrowed
  Py_ssize_t offset;

  /// False without an exception if the general path must handle it, with one if the aval cannot be made.
  bool index(PyObject *index) {
    Py_ssize_t place;
    if (aval->rank() == 0 || !readIndex(index, aval->dims[0], place))
      return false;
    offset += place * aval->strides()[0];
    aval = rowOf(aval);
    return aval != nullptr;
  }
};
} // namespace

//===-- The elements
//-----------------------------------------------------------------------------------------------------===//

static void copyElements(void *to, const void *from, Py_ssize_t bytes) {
  switch (bytes) {
  case 4:
    std::memcpy(to, from, 4);
    break;
  case 8:
    std::memcpy(to, from, 8);
    break;
  default:
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

/// A part of the array; null without an exception if compiled code must handle it.
static PyObject *partOf(ArrayObject *array, AvalObject *aval, Py_ssize_t offset) {
  auto bytes = static_cast<size_t>(aval->nbytes);
  if (aval->nbytes > largestCopy)
    return array->buffer->mayView(bytes) ? viewOf(array, aval, static_cast<size_t>(offset)) : nullptr;
  if (!array->buffer->isHostReadable() || !array->buffer->isReady() || array->buffer->error())
    return nullptr;
  RefPtr<Buffer> buffer = allocateBuffer(*array->buffer->device(), aval, "x[index]");
  if (!buffer)
    return nullptr;
  copyElements(buffer->data(), static_cast<const char *>(array->buffer->data()) + offset, aval->nbytes);
  return newArray(aval, std::move(buffer), array->committed);
}

static PyObject *sliceHere(ArrayObject *array, PyObject *slice) {
  auto *ends = reinterpret_cast<PySliceObject *>(slice);
  AvalObject *aval = array->aval;
  Py_ssize_t start, stop, size = aval->dims[0];
  if (ends->step != Py_None || !readEnd(ends->start, size, 0, start) || !readEnd(ends->stop, size, size, stop))
    return nullptr;
  Py_ssize_t count = stop > start ? stop - start : 0;
  if (count == size)
    return nullptr;
  PyRef part = PyRef::steal(reinterpret_cast<PyObject *>(avalOfRows(aval, count)));
  Py_ssize_t offset = aval->size && count ? start * aval->strides()[0] : 0;
  return part ? partOf(array, reinterpret_cast<AvalObject *>(part.get()), offset) : nullptr;
}

PyObject *pcrt::python::subscriptHere(ArrayObject *array, PyObject *index) {
  if (array->shards || array->aval->rank() == 0 || (unwatched != contextKey() && !learnContext()))
    return nullptr;
  if (isDeferred(array->buffer))
    return nullptr;
  // Uncommitted operands are computed on the default device.
  if (severalDevices && !array->committed && array->buffer->device() != &defaultDevice())
    return nullptr;
  if (PySlice_Check(index))
    return sliceHere(array, index);
  Part part{array->aval, 0};
  if (PyTuple_CheckExact(index)) {
    if (PyTuple_GET_SIZE(index) == 0)
      return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i)
      if (!part.index(PyTuple_GET_ITEM(index, i)))
        return nullptr;
  } else if (!part.index(index)) {
    return nullptr;
  }
  return partOf(array, part.aval, part.offset);
}

//===-- Functions
//-----------------------------------------------------------------------------------------------------===//

static PyObject *setWatched(PyObject *, PyObject *function) {
  Py_CLEAR(unwatched);
  Py_XSETREF(isWatched, Py_NewRef(function));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_watched", setWatched, METH_O,
     "Set the function that returns whether results are checked in the context of this thread. It is called once for "
     "each\ncontext key."},
    {}};

bool pcrt::python::addSubscriptFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

// Reads the elements of arrays, and copies those of NumPy arrays.
#include "array/Elements.h"

#include "array/Copies.h"
#include "array/Pending.h"
#include "array/TransferGuard.h"
#include "runtime/Devices.h"
#include "runtime/Profile.h"
#include "support/Wait.h"
#include "types/Ndarray.h"
#include <cstring>

using namespace pcrt;
using namespace pcrt::python;

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

Buffer *pcrt::python::hostElements(ArrayObject *array) {
  if (!ensureElements(array))
    return nullptr;
  if (array->buffer->isHostReadable() || isDeleted(array->buffer))
    return array->buffer;
  if (!array->onHost) {
    if (!allowTransfer(Transfer::DeviceToHost, reinterpret_cast<PyObject *>(array->aval), Devices::cpu()))
      return nullptr;
    RefPtr<Buffer> copy = copyTo(Devices::cpu(), array->aval, *array->buffer);
    if (!copy)
      return nullptr;
    // Another thread may have made the copy meanwhile.
    if (!array->onHost)
      array->onHost = copy.take();
  }
  return array->onHost;
}

Buffer *pcrt::python::readableElements(ArrayObject *array) {
  Buffer *elements = hostElements(array);
  return elements && waitFor(elements) ? elements : nullptr;
}

PyRef pcrt::python::viewAsNumpy(ArrayObject *array) {
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
  // The same memory as integers, which NumPy then views as the registered dtype.
  DType integer = byteSize(aval->code) == 2 ? DType::UInt16 : DType::UInt8;
  PyRef bitsAval =
      PyRef::steal(reinterpret_cast<PyObject *>(internAval(aval->dims, aval->rank(), integer, aval->weakType)));
  if (!bitsAval)
    return nullptr;
  PyRef bits = PyRef::steal(newArray(reinterpret_cast<AvalObject *>(bitsAval.get()), RefPtr<Buffer>(elements)));
  PyRef integers = bits ? PyRef::steal(PyObject_CallOneArg(toNdarray, bits.get())) : PyRef();
  return integers ? PyRef::steal(PyObject_CallMethod(integers.get(), "view", "O", aval->dtype)) : PyRef();
}

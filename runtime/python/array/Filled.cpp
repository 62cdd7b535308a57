// Arrays of one value, and of consecutive numbers, made in place: initial values do not justify a compilation.
#include "array/DevicePlacement.h"
#include "array/Parts.h"
#include "runtime/Devices.h"
#include "support/Gil.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::python;

/// Arrays of this size are made without the GIL.
static constexpr Py_ssize_t largeArray = 1 << 20;

/// A buffer of the default device, which `make` fills in the host's memory: directly, or before a copy to the device.
/// Null with an exception.
template <typename Make> static RefPtr<Buffer> made(AvalObject *aval, const char *what, Make make) {
  RefPtr<Buffer> buffer = allocateBuffer(defaultDevice(), aval, what);
  RefPtr<Buffer> onHost = !buffer || buffer->isHostReadable() ? buffer : allocateBuffer(Devices::cpu(), aval, what);
  if (!onHost)
    return nullptr;
  if (aval->nbytes < largeArray) {
    make(onHost->data());
  } else {
    WithoutGil released;
    make(onHost->data());
  }
  bool sent = onHost.get() == buffer.get() || fillBuffer(*buffer, onHost->data());
  return sent ? buffer : nullptr;
}

static bool isConcrete(PyObject *object, const char *function) {
  if (isAval(object) && reinterpret_cast<AvalObject *>(object)->isConcrete())
    return true;
  PyErr_Format(PyExc_TypeError, "%s: takes a concrete ShapedArray", function);
  return false;
}

template <typename T> static void repeat(void *to, const void *value, Py_ssize_t count) {
  T element;
  std::memcpy(&element, value, sizeof(T));
  std::fill_n(static_cast<T *>(to), count, element);
}

/// False when no element has this many bytes.
static bool repeatBytes(void *to, const void *value, size_t bytes, Py_ssize_t count) {
  switch (bytes) {
  case 1:
    repeat<uint8_t>(to, value, count);
    return true;
  case 2:
    repeat<uint16_t>(to, value, count);
    return true;
  case 4:
    repeat<uint32_t>(to, value, count);
    return true;
  case 8:
    repeat<uint64_t>(to, value, count);
    return true;
  case 16:
    repeat<__uint128_t>(to, value, count);
    return true;
  default:
    return false;
  }
}

static PyObject *filledArray(PyObject *, PyObject *args) {
  PyObject *object;
  const char *value;
  Py_ssize_t bytes;
  if (!PyArg_ParseTuple(args, "Oy#:filled", &object, &value, &bytes) || !isConcrete(object, "filled"))
    return nullptr;
  auto *aval = reinterpret_cast<AvalObject *>(object);
  if (bytes != static_cast<Py_ssize_t>(byteSize(aval->code)))
    return PyErr_Format(PyExc_ValueError, "filled: a value of %zd bytes is none of %S", bytes, aval);
  RefPtr<Buffer> buffer =
      made(aval, "filling an array", [&](void *to) { repeatBytes(to, value, static_cast<size_t>(bytes), aval->size); });
  return buffer ? newArray(aval, std::move(buffer), /*committed=*/false) : nullptr;
}

template <typename T> static void count(void *to, Py_ssize_t size) {
  auto *elements = static_cast<T *>(to);
  for (Py_ssize_t i = 0; i < size; ++i)
    elements[i] = static_cast<T>(i);
}

static PyObject *countedArray(PyObject *, PyObject *object) {
  if (!isConcrete(object, "counted"))
    return nullptr;
  auto *aval = reinterpret_cast<AvalObject *>(object);
  void (*make)(void *, Py_ssize_t) = nullptr;
  switch (aval->code) {
  case DType::Int32:
    make = count<int32_t>;
    break;
  case DType::Int64:
    make = count<int64_t>;
    break;
  case DType::Float32:
    make = count<float>;
    break;
  case DType::Float64:
    make = count<double>;
    break;
  default:
    break;
  }
  if (!make || aval->rank() != 1)
    return PyErr_Format(PyExc_ValueError, "counted: takes a vector of int32, int64, float32 or float64, not %S", aval);
  RefPtr<Buffer> buffer = made(aval, "counting numbers", [&](void *to) { make(to, aval->size); });
  return buffer ? newArray(aval, std::move(buffer), /*committed=*/false) : nullptr;
}

static PyMethodDef functions[] = {
    {"filled", filledArray, METH_VARARGS, "filled(aval, value): an array whose elements are the bytes `value`."},
    {"counted", countedArray, METH_O, "counted(aval): the vector 0, 1, 2, ..."},
    {}};

bool pcrt::python::addFilledFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

// Converts a leaf of a call to an Array by the function that Python registered. The results of that function for common
// leaves (Python scalars, contiguous ndarrays) are learned, and computed here the next time.
#include "array/Leaf.h"

#include "array/Borrow.h"
#include "array/Elements.h"
#include "array/TransferGuard.h"
#include "support/Context.h"
#include "types/Ndarray.h"

using namespace pcrt;
using namespace pcrt::python;

static PyObject *leafConverter = nullptr;

namespace {
/// The converter's aval for a Python scalar type under one configuration.
struct LearnedScalar {
  PyTypeObject *type;
  PyObject *context = nullptr;
  AvalObject *aval = nullptr;

  AvalObject *current() const { return context == contextKey() ? aval : nullptr; }
  void learn(AvalObject *given) {
    Py_XSETREF(context, Py_NewRef(contextKey()));
    Py_INCREF(given);
    AvalObject *before = std::exchange(aval, given);
    Py_XDECREF(before);
  }
};
} // namespace

static LearnedScalar learned[] = {{&PyBool_Type}, {&PyLong_Type}, {&PyFloat_Type}, {&PyComplex_Type}};

static LearnedScalar *learnedFor(PyObject *leaf) {
  for (LearnedScalar &entry : learned)
    if (entry.type == Py_TYPE(leaf))
      return &entry;
  return nullptr;
}

template <typename T> static bool storeComplex(void *to, Py_complex value) {
  T *parts = static_cast<T *>(to);
  parts[0] = static_cast<T>(value.real);
  parts[1] = static_cast<T>(value.imag);
  return true;
}

template <typename T> static bool store(void *to, T value) {
  *static_cast<T *>(to) = value;
  return true;
}

/// Writes a Python scalar as the learned dtype; false if it does not fit or the dtype is uncommon.
static bool storeScalar(PyObject *leaf, DType dtype, void *to) {
  if (PyFloat_CheckExact(leaf)) {
    double value = PyFloat_AS_DOUBLE(leaf);
    if (dtype == DType::Float32)
      return store(to, static_cast<float>(value));
    return dtype == DType::Float64 && store(to, value);
  }
  if (PyComplex_CheckExact(leaf)) {
    if (dtype == DType::Complex64)
      return storeComplex<float>(to, PyComplex_AsCComplex(leaf));
    return dtype == DType::Complex128 && storeComplex<double>(to, PyComplex_AsCComplex(leaf));
  }
  if (PyBool_Check(leaf))
    return dtype == DType::Bool && store(to, static_cast<uint8_t>(leaf == Py_True));
  int overflow;
  long long value = PyLong_AsLongLongAndOverflow(leaf, &overflow);
  if (overflow)
    return false;
  if (dtype == DType::Int32)
    return value == static_cast<int32_t>(value) && store(to, static_cast<int32_t>(value));
  return dtype == DType::Int64 && store(to, static_cast<int64_t>(value));
}

/// The same, into the memory of a device; false with an exception if that failed.
[[gnu::noinline]] static bool sendScalar(PyObject *leaf, const AvalObject &aval, Buffer &buffer) {
  alignas(16) char bytes[16];
  return storeScalar(leaf, aval.code, bytes) && fillBuffer(buffer, bytes);
}

//===-- ndarrays
//----------------------------------------------------------------------------------------------------===//

/// By dtype: the configuration under which the converter kept the dtype of an ndarray.
static PyObject *keepingContext[dtypeCount];

/// The aval of a contiguous ndarray whose dtype is known to be kept; null without an exception if Python has to decide.
static PyRef keptAval(PyObject *ndarray) {
  Py_buffer view;
  if (PyObject_GetBuffer(ndarray, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  DType dtype;
  AvalObject *aval = nullptr;
  if (dtypeOfFormat(view.format, dtype) && keepingContext[static_cast<int>(dtype)] == contextKey())
    aval = internAval(view.shape, view.ndim, dtype, /*weakType=*/false);
  PyBuffer_Release(&view);
  return PyRef::steal(reinterpret_cast<PyObject *>(aval));
}

/// A copy of such an ndarray.
static PyObject *convertNdarray(PyObject *ndarray) {
  PyRef aval = keptAval(ndarray);
  return aval ? arrayFromNumpy(ndarray, reinterpret_cast<AvalObject *>(aval.get())) : nullptr;
}

/// False with an exception if the active guard forbids converting the leaf to an array.
static bool mayBecomeArray(PyObject *leaf) {
  if (!guardsTransfers)
    return true;
  PyRef kind = PyRef::steal(PyUnicode_FromFormat("a value of type %s", Py_TYPE(leaf)->tp_name));
  return kind && allowTransfer(Transfer::HostToDevice, kind.get(), defaultDevice());
}

PyObject *pcrt::python::borrowLeaf(PyObject *leaf) {
  // The memory of a GPU gets a copy.
  PyRef aval = isSoleNdarray(leaf) && defaultDevice().hasHostMemory() ? keptAval(leaf) : PyRef();
  if (!aval || !mayBecomeArray(leaf))
    return nullptr;
  return arrayOverNumpy(leaf, reinterpret_cast<AvalObject *>(aval.get()));
}

static void learnNdarray(PyObject *ndarray, AvalObject *aval) {
  PyRef dtype = PyRef::steal(PyObject_GetAttrString(ndarray, "dtype"));
  if (!dtype)
    PyErr_Clear();
  else if (dtype.get() == aval->dtype && !aval->weakType)
    Py_XSETREF(keepingContext[static_cast<int>(aval->code)], Py_NewRef(contextKey()));
}

//===-- Conversion
//--------------------------------------------------------------------------------------------------===//

static PyObject *convertByPython(PyObject *leaf) {
  if (!leafConverter) {
    PyErr_Format(PyExc_TypeError, "%R is not an array", Py_TYPE(leaf));
    return nullptr;
  }
  PyRef result = PyRef::steal(PyObject_CallOneArg(leafConverter, leaf));
  if (result && !isArray(result.get())) {
    PyErr_Format(PyExc_TypeError, "the leaf converter returned %R, not an Array", Py_TYPE(result.get()));
    return nullptr;
  }
  return result.take();
}

static inline PyObject *convert(PyObject *leaf) {
  LearnedScalar *scalar = learnedFor(leaf);
  if (AvalObject *aval = scalar ? scalar->current() : nullptr) {
    RefPtr<Buffer> buffer = allocateBuffer(defaultDevice(), aval, "a scalar");
    if (!buffer)
      return nullptr;
    if (buffer->isHostReadable() ? storeScalar(leaf, aval->code, buffer->data()) : sendScalar(leaf, *aval, *buffer))
      return newArray(aval, std::move(buffer));
    if (PyErr_Occurred())
      return nullptr;
  }
  bool isNdarray = Py_TYPE(leaf) == ndarrayType();
  if (isNdarray) {
    PyObject *result = convertNdarray(leaf);
    if (result || PyErr_Occurred())
      return result;
  }
  PyObject *result = convertByPython(leaf);
  if (result && scalar && asArray(result)->aval->rank() == 0)
    scalar->learn(asArray(result)->aval);
  if (result && isNdarray)
    learnNdarray(leaf, asArray(result)->aval);
  return result;
}

/// Like `convertLeaf`, if the transfer guard must be checked.
[[gnu::noinline]] static PyObject *convertGuarded(PyObject *leaf) {
  if (!mayBecomeArray(leaf))
    return nullptr;
  UnguardedTransfers unguarded;
  return convert(leaf);
}

PyObject *pcrt::python::convertLeaf(PyObject *leaf) { return guardsTransfers ? convertGuarded(leaf) : convert(leaf); }

//===-- Functions
//---------------------------------------------------------------------------------------------------===//

/// Another converter may give other results.
static void forgetLearned() {
  for (LearnedScalar &entry : learned)
    Py_CLEAR(entry.context);
  for (PyObject *&context : keepingContext)
    Py_CLEAR(context);
}

static PyObject *setLeafConverter(PyObject *, PyObject *function) {
  if (function != Py_None && !PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "set_leaf_converter: not callable");
    return nullptr;
  }
  forgetLearned();
  PyObject *before = std::exchange(leafConverter, function == Py_None ? nullptr : Py_NewRef(function));
  return before ? before : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {{"set_leaf_converter", setLeafConverter, METH_O,
                                   "Set the function that makes an Array of another leaf, return the previous one."},
                                  {}};

bool pcrt::python::addLeafFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

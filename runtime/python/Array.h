// Array, as a raw CPython type: an aval and a buffer. After Aval; the calls (CompiledCall, JitFunction) make them.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_H

#include "Aval.h"
#include "Gil.h"
#include "runtime/Device.h"

namespace pcrt::python {

/// A place in the ring of the arrays that are alive.
struct LiveLink {
  LiveLink *previous, *next;
};

struct ArrayObject {
  PyObject_HEAD AvalObject *aval;
  Buffer *buffer;
  /// A copy in the host's memory, of elements that are not there themselves; null until somebody wants it.
  Buffer *onHost;
  PyObject *weakReferences;
  /// How the elements lie on devices, and the arrays of each device; null for what is on one device.
  PyObject *sharding, *shards;
  /// Whether the program said on which device it is to be: what is computed from it is there too.
  bool committed;
  /// Within a question about the arguments of one call, else false.
  bool isMarked;
  LiveLink live;
  /// What says the size, where it depends on data and is not known yet: see Unsized. Null for all other arrays.
  PyObject *unsized;
  /// The shape that the array has at most, where its size depended on data; else null.
  PyObject *mostShape;
};

extern PyTypeObject *arrayType;

inline bool isArray(PyObject *object) { return Py_TYPE(object) == arrayType; }
inline ArrayObject *asArray(PyObject *object) { return reinterpret_cast<ArrayObject *>(object); }

/// Out of line, for `ensureSize`.
bool makeSize(ArrayObject *array);
/// Waits until the size of the array is known, where it depends on data, and has it made; false with an exception. To
/// be called before anything reads its dimensions or its elements.
inline bool ensureSize(ArrayObject *array) { return __builtin_expect(!array->unsized, 1) || makeSize(array); }

/// The same for who asks for the dimensions alone, which may be known where the elements are not.
inline bool ensureDims(ArrayObject *array) { return array->aval->isConcrete() || ensureSize(array); }

/// A new array, or null. `aval` is borrowed.
PyObject *newArray(AvalObject *aval, RefPtr<Buffer> buffer, bool committed = false);
/// Another array of the same elements, in the same memory, wherever they are and whether they are there or not: a new
/// reference, or null with an exception.
PyObject *shareElements(ArrayObject *array);
/// The same for each of a tuple of arrays.
PyRef shareAll(PyObject *arrays);
/// A fresh buffer of the device, or null with MemoryError; `what` names it in the message.
RefPtr<Buffer> allocateBuffer(Device &device, AvalObject *aval, const char *what);
/// The dtype that a buffer's format means; false when it is none of ours.
bool dtypeOfFormat(const char *format, DType &dtype);
/// A copy of a C-contiguous ndarray of the aval's shape and dtype; null with an exception.
PyObject *arrayFromNumpy(PyObject *ndarray, AvalObject *aval);

/// Copies bytes of the host into a buffer that nobody else knows yet; false with an exception. Without the GIL if there
/// are many.
bool fillBuffer(Buffer &buffer, const void *bytes);
/// The elements where the host can read them, ready: those of the array, or a copy of them that it keeps. Borrowed;
/// null with an exception.
Buffer *readableElements(ArrayObject *array);

/// Gives the array's memory back; a later read of it fails, and says why.
void deleteElements(ArrayObject *array, std::string why);
bool isDeleted(const Buffer *buffer);

/// Waits without the GIL, and raises what the computation of the buffer came to; false with an exception set.
bool waitFor(Buffer *buffer);
/// Raises an error of the runtime.
void raise(const Status &status, const char *where);
void raise(const Error &error);
/// Sets the class of failures of executions (None: RuntimeError), returns the previous one or None.
PyObject *setErrorType(PyObject *type);

/// Keeps the exception of a signal that ended a wait for an array's buffer, which NumPy drops; the next question to the
/// array raises it again.
void keepInterruption(const void *array);
bool raiseInterruption(const void *array);

long long liveArrayCount();
/// The arrays that are alive, the oldest first: a new list, or null.
PyObject *listArrays();
/// Whether an array that is alive has these elements.
bool isHeldByArray(const Buffer *buffer);
bool addArrayType(PyObject *module);
/// Gives Array the class that says what else is an array: see ArrayClass.cpp. False with an exception.
bool setArrayClass();
bool addShareFunctions(PyObject *module);
/// Dlpack.cpp's part of the module.
bool addDlpackFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_H

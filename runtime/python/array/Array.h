// Array, the object: an aval and a buffer, which it is made of and gives back. After Aval; what Python sees of it is in
// ArrayType, and how its elements come to be there in Pending and Sharded.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_H

#include "runtime/Device.h"
#include "types/Aval.h"

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
  /// What says the size, where it depends on data and is not known yet: see Pending. Null for all other arrays.
  PyObject *pendingSize;
  /// The shape that the array has at most, where its size depended on data; else null.
  PyObject *maxShape;
};

extern PyTypeObject *arrayType;

inline bool isArray(PyObject *object) { return Py_TYPE(object) == arrayType; }
/// Whether its elements are in several buffers, one a device: see Sharded.
inline bool isSharded(const ArrayObject *array) { return array->shards != nullptr; }
inline ArrayObject *asArray(PyObject *object) { return reinterpret_cast<ArrayObject *>(object); }

/// A new array, or null. `aval` is borrowed.
PyObject *newArray(AvalObject *aval, RefPtr<Buffer> buffer, bool committed = false);
/// A fresh buffer of the device, or null with MemoryError; `what` names it in the message.
RefPtr<Buffer> allocateBuffer(Device &device, AvalObject *aval, const char *what);
/// Copies bytes of the host into a buffer that nobody else knows yet; false with an exception. Without the GIL if there
/// are many.
bool fillBuffer(Buffer &buffer, const void *bytes);
/// Gives the array's memory back; a later read of it fails, and says why.
void deleteElements(ArrayObject *array, std::string why);
bool isDeleted(const Buffer *buffer);

long long liveArrayCount();
/// The arrays that are alive, the oldest first: a new list, or null.
PyObject *listArrays();
/// Whether an array that is alive has these elements.
bool isHeldByArray(const Buffer *buffer);
/// For the type: ends an array that nobody refers to.
void deallocateArray(PyObject *self);
} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_H

// Array, the object: an aval and a buffer, its creation and its destruction. After Aval. ArrayType defines the Python
// interface, and Pending and Sharded define other ways to hold elements.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_H

#include "runtime/Device.h"
#include "types/Aval.h"

namespace pcrt::python {

/// A link in the ring of live arrays.
struct LiveLink {
  LiveLink *previous, *next;
};

struct ArrayObject {
  PyObject_HEAD AvalObject *aval;
  Buffer *buffer;
  /// A copy in the host's memory, if the elements are elsewhere; null until it is needed.
  Buffer *onHost;
  PyObject *weakReferences;
  /// The layout of the elements on devices, and the arrays of each device; null for an array on one device.
  PyObject *sharding, *shards;
  /// Whether the program chose the device: results computed from the array are there, too.
  bool committed;
  /// Used temporarily while the arguments of one call are compared, else false.
  bool isMarked;
  LiveLink live;
  /// The object that determines the size if it depends on data and is not known yet: see Pending. Null for all other
  /// arrays.
  PyObject *pendingSize;
  /// The maximum shape of an array whose size depended on data; else null.
  PyObject *maxShape;
};

extern PyTypeObject *arrayType;

inline bool isArray(PyObject *object) { return Py_TYPE(object) == arrayType; }
/// Whether its elements are in several buffers, one a device: see Sharded.
inline bool isSharded(const ArrayObject *array) { return array->shards != nullptr; }
inline ArrayObject *asArray(PyObject *object) { return reinterpret_cast<ArrayObject *>(object); }

/// A new array, or null. `aval` is borrowed.
PyObject *newArray(AvalObject *aval, RefPtr<Buffer> buffer, bool committed = false);
/// Notes the line of the program that uses a device; the first one counts. Null: none has.
void noteUseOfDevices();
const char *firstUseOfDevices();
/// A new buffer of the device, or null with MemoryError; `what` names it in the message.
RefPtr<Buffer> allocateBuffer(Device &device, AvalObject *aval, const char *what);
/// Before that, for results: waits for a freed block, if it costs less than new memory. It may release the GIL.
void waitForFreed(Device &device, AvalObject *aval);
/// Copies bytes of the host into a buffer that is not shared yet; false with an exception. Releases the GIL for many
/// bytes.
bool fillBuffer(Buffer &buffer, const void *bytes);
/// Releases the array's memory; a later read fails with the reason `why`.
void deleteElements(ArrayObject *array, std::string why);
bool isDeleted(const Buffer *buffer);

long long liveArrayCount();
/// The arrays that are alive, the oldest first: a new list, or null.
PyObject *listArrays();
/// Whether a live array has these elements.
bool isHeldByArray(const Buffer *buffer);
/// For the type: destroys an array without references.
void deallocateArray(PyObject *self);
} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_H

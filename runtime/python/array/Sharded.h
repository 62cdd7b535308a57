// Arrays whose elements are in several buffers, one for each device: an ArrayObject with `shards`, a tuple of the
// arrays of the devices, and `sharding`, the Python object that assigns elements to devices. After Array.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SHARDED_H
#define PYCOMPILER_RUNTIME_PYTHON_SHARDED_H

#include "array/Array.h"

namespace pcrt::python {

/// The elements of all shards as one ndarray, assembled by the function that Python registered; null with an exception.
PyObject *assemble(ArrayObject *array);

/// Whether a read would not wait.
bool areShardsReady(const ArrayObject *array);
/// Waits. False with an exception.
bool waitForShards(ArrayObject *array);
/// Releases the memory.
void deleteShards(ArrayObject *array, const char *why);
/// Whether some memory was released.
bool areShardsDeleted(const ArrayObject *array);

/// The bytes of a contiguous object that exports a buffer, as an array of the device; null with an exception.
PyObject *arrayOfBytes(PyObject *bytes, AvalObject *aval, Device &device);

bool addShardedFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SHARDED_H

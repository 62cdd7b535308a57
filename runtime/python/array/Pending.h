// Arrays that do not exist yet. With `pendingSize`, the size depends on data that is still being computed: the aval has
// symbols, and there is no buffer, until that Python object sets both. A deferred array is made by a function of Python
// at its first use, when its device is known. After Copies and TransferGuard.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_PENDING_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_PENDING_H

#include "array/DevicePlacement.h"

namespace pcrt::python {

//===-- Arrays whose size depends on data

/// Out of line, for `ensureSize`.
bool makeSize(ArrayObject *array);
/// Waits until a data-dependent size is known, and sets it; false with an exception. To be called before any read of
/// dimensions or elements.
inline bool ensureSize(ArrayObject *array) { return __builtin_expect(!array->pendingSize, 1) || makeSize(array); }

/// The same for the dimensions alone, which may be known before the elements.
inline bool ensureDims(ArrayObject *array) { return array->aval->isConcrete() || ensureSize(array); }

/// Whether reading the size would not wait; false with an exception.
bool isSizeKnown(ArrayObject *array, bool &isKnown);

//===-- Arrays that are made at their first use

/// Whether the buffer stands for a deferred array, whose elements a function of Python returns.
bool isDeferred(const Buffer *buffer);
/// Out of line, for `ensureElements`.
bool makeElements(ArrayObject *array);
/// Makes the array if necessary; false with an exception. To be called before any read of its buffer.
inline bool ensureElements(ArrayObject *array) {
  return ensureSize(array) && (!severalDevices || !isDeferred(array->buffer) || makeElements(array));
}

/// The array's elements on `target`: its own buffer if it is there, else a copy. Null with an exception.
RefPtr<Buffer> elementsOn(Device &target, ArrayObject *array);

bool addPendingFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_PENDING_H

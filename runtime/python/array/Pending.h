// Arrays that are not there yet. Of one with `pendingSize` the size depends on data that is still being computed: its
// aval has symbols, and there is no buffer, until the Python object that this is makes the array as it is. A deferred
// one is made by a function of Python at its first use, when it is known where. After Copies and TransferGuard.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_PENDING_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_PENDING_H

#include "array/DevicePlacement.h"

namespace pcrt::python {

//===-- Arrays whose size depends on data

/// Out of line, for `ensureSize`.
bool makeSize(ArrayObject *array);
/// Waits until the size of the array is known, where it depends on data, and has it made; false with an exception. To
/// be called before anything reads its dimensions or its elements.
inline bool ensureSize(ArrayObject *array) { return __builtin_expect(!array->pendingSize, 1) || makeSize(array); }

/// The same for who asks for the dimensions alone, which may be known where the elements are not.
inline bool ensureDims(ArrayObject *array) { return array->aval->isConcrete() || ensureSize(array); }

/// Whether asking for the size would not wait; false with an exception.
bool isSizeKnown(ArrayObject *array, bool &isKnown);

//===-- Arrays that are made at their first use

/// What the buffer of an array is until then; its elements are what a function of Python returns.
bool isDeferred(const Buffer *buffer);
/// Out of line, for `ensureElements`.
bool makeElements(ArrayObject *array);
/// Has the array made if it was not; false with an exception. To be called before anything reads its buffer.
inline bool ensureElements(ArrayObject *array) {
  return ensureSize(array) && (!severalDevices || !isDeferred(array->buffer) || makeElements(array));
}

/// The array's elements on `target`: its own buffer if it is there, else a copy. Null with an exception.
RefPtr<Buffer> elementsOn(Device &target, ArrayObject *array);

bool addPendingFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_PENDING_H

// Where calls run and where arrays are: the thread's default device, operands that are moved to the device of a call,
// arrays that are made when it is known where. After Array; Call asks it where a call runs.
//
// With one device there is nothing to decide: then all of this is skipped, but for the flag of committed arrays.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H
#define PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H

#include "Array.h"

namespace pcrt::python {

/// Whether there is more than one device.
extern bool severalDevices;

/// Where this thread puts what nobody said a place for.
Device &defaultDevice();

/// The Python objects of Device::all(), in their order; they live forever.
void setDeviceObjects(std::vector<PyObject *> objects);
/// The Python object of a device, borrowed: always the same one.
PyObject *deviceObject(const Device &device);
/// The device of a Python object; null with TypeError.
Device *deviceOf(PyObject *object);

/// A copy of the buffer in the memory of `target`, which may still be being made; null with an exception. The GIL may
/// be released meanwhile.
RefPtr<Buffer> copyTo(Device &target, AvalObject *aval, Buffer &source);

/// The array's elements on `target`: its own buffer if it is there, else a copy. Null with an exception.
RefPtr<Buffer> elementsOn(Device &target, ArrayObject *array);

//===-- Arrays that are made at their first use

/// What the buffer of an array is until then; its elements are what a function of Python returns.
bool isDeferred(const Buffer *buffer);
/// Out of line, for `ensureElements`.
bool makeElements(ArrayObject *array);
/// Has the array made if it was not; false with an exception. To be called before anything reads its buffer.
inline bool ensureElements(ArrayObject *array) {
  return ensureSize(array) && (!severalDevices || !isDeferred(array->buffer) || makeElements(array));
}

//===-- Transfers that the program does not want

enum class Transfer : unsigned { HostToDevice, DeviceToDevice, DeviceToHost };
/// Whether any guard was ever set.
extern bool guardsTransfers;
/// Out of line, for `allowTransfer`.
bool allowTransferSlow(Transfer transfer, PyObject *what, const Device &target);
/// False with an exception when the guard in force forbids the transfer of `what`, which the message shows.
inline bool allowTransfer(Transfer transfer, PyObject *what, const Device &target) {
  return !guardsTransfers || allowTransferSlow(transfer, what, target);
}

/// While a leaf that the guard let through is converted, which may be by Python.
class UnguardedTransfers {
public:
  UnguardedTransfers();
  ~UnguardedTransfers();
  UnguardedTransfers(const UnguardedTransfers &) = delete;
  UnguardedTransfers &operator=(const UnguardedTransfers &) = delete;

private:
  const bool before;
};

//===-- Of one call

/// What was found out about the operands of a call.
struct Placement {
  Device *device;
  bool committed;
};

/// The leaves that an error is about when a call returned null because of them: see takeConflict.
struct Conflict {
  bool isSet = false;
  size_t first, second;
};

/// Where a call of `leaves` runs; `name` is the function's for the error of operands that are committed to different
/// devices. `given` is the device that the called function names itself, or null. False with an exception.
bool placeLeaves(ArrayObject *const *leaves, const size_t *numbers, size_t count, Device *given, const char *name,
                 Placement &placement);
/// The conflict that the last failed call of this thread met, which is forgotten.
Conflict takeConflict();
/// Words the error of a conflict anew, with the names of the leaves ("x['w']"); sets the exception.
void raiseConflict(const char *name, PyObject *firstName, const ArrayObject *first, PyObject *secondName,
                   const ArrayObject *second);

bool addPlacementFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H

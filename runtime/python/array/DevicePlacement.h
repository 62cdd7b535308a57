// Where calls run and where arrays are: the thread's default device, and the device of a call by its operands. After
// Array; Call asks it where a call runs.
//
// With one device there is nothing to decide: then all of this is skipped, but for the flag of committed arrays.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H
#define PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H

#include "array/Array.h"

#include <vector>

namespace pcrt::python {

/// Whether there is more than one device.
extern bool severalDevices;

/// Where this thread puts what nobody said a place for.
Device &defaultDevice();

/// Within it another device is where this thread puts things.
class DefaultDeviceScope {
public:
  explicit DefaultDeviceScope(Device &device);
  ~DefaultDeviceScope();
  DefaultDeviceScope(const DefaultDeviceScope &) = delete;
  DefaultDeviceScope &operator=(const DefaultDeviceScope &) = delete;

private:
  Device *const before;
};

/// The Python objects of Devices::all(), in their order; they live forever.
void setDeviceObjects(std::vector<PyObject *> objects);
/// The Python object of a device, borrowed: always the same one.
PyObject *deviceObject(const Device &device);
/// The device of a Python object; null with TypeError.
Device *deviceOf(PyObject *object);

//===-- Of one call

/// What was found out about the operands of a call.
struct DevicePlacement {
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
                 DevicePlacement &placement);
/// The conflict that the last failed call of this thread met, which is forgotten.
Conflict takeConflict();
/// Words the error of a conflict anew, with the names of the leaves ("x['w']"); sets the exception.
void raiseConflict(const char *name, PyObject *firstName, const ArrayObject *first, PyObject *secondName,
                   const ArrayObject *second);

bool addDevicePlacementFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H

// The devices of calls and arrays: the thread's default device, and the device of a call by its operands. After Array;
// Call uses it.
//
// With one device there is no decision: all of this is skipped, except for the flag of committed arrays.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H
#define PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H

#include "array/Array.h"

#include <vector>

namespace pcrt::python {

/// Whether there is more than one device.
extern bool severalDevices;

/// The device of this thread's arrays if the program chose none.
Device &defaultDevice();

/// Sets this thread's default device during its lifetime.
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
/// The device of a Python object; null with TypeError, or with ValueError for a device of another process.
Device *deviceOf(PyObject *object);
/// The Python objects of the devices of all processes, in one order everywhere: those of process 0 first.
const std::vector<PyObject *> &allDeviceObjects();
void setAllDeviceObjects(std::vector<PyObject *> objects);

//===-- Of one call

/// The placement of a call, derived from its operands.
struct DevicePlacement {
  Device *device;
  bool committed;
};

/// The leaves that caused the error of a call that returned null: see takeConflict.
struct Conflict {
  bool isSet = false;
  size_t first, second;
};

/// Chooses the device of a call of `leaves`. `name` is the function's name, for the error if operands are committed to
/// different devices. `given` is the device that the called function names itself, or null. False with an exception.
bool placeLeaves(ArrayObject *const *leaves, const size_t *numbers, size_t count, Device *given, const char *name,
                 DevicePlacement &placement);
/// Takes the conflict of this thread's last failed call.
Conflict takeConflict();
/// Replaces the error of a conflict by one with the names of the leaves ("x['w']"); sets the exception.
void raiseConflict(const char *name, PyObject *firstName, const ArrayObject *first, PyObject *secondName,
                   const ArrayObject *second);

bool addDevicePlacementFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_PLACEMENT_H

// Default devices, and the device of a call.
#include "array/DevicePlacement.h"

#include "runtime/Devices.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::python;

bool pcrt::python::severalDevices = false;

//===-- Devices
//-----------------------------------------------------------------------------------------------------===//

static thread_local Device *ownDefault = nullptr;
static Device *commonDefault = nullptr, *platformDefault = nullptr;
/// By index in Devices::all().
static std::vector<PyObject *> deviceObjects;
/// Those of all processes; empty if there is one.
static std::vector<PyObject *> everyDeviceObject;

Device &pcrt::python::defaultDevice() {
  if (!severalDevices)
    return Devices::cpu();
  if (ownDefault)
    return *ownDefault;
  return commonDefault ? *commonDefault : platformDefault ? *platformDefault : Devices::standard();
}

DefaultDeviceScope::DefaultDeviceScope(Device &device) : before(std::exchange(ownDefault, &device)) {}
DefaultDeviceScope::~DefaultDeviceScope() { ownDefault = before; }

void pcrt::python::setDeviceObjects(std::vector<PyObject *> objects) {
  const std::vector<Device *> &all = Devices::all();
  // A default device that was left to another process: the first one of its platform stands in.
  for (Device **standard : {&ownDefault, &commonDefault, &platformDefault}) {
    if (!*standard || std::find(all.begin(), all.end(), *standard) != all.end())
      continue;
    auto other = std::find_if(all.begin(), all.end(),
                              [&](Device *device) { return device->platform() == (*standard)->platform(); });
    *standard = other == all.end() ? nullptr : *other;
  }
  deviceObjects = std::move(objects);
  severalDevices = deviceObjects.size() > 1;
}

PyObject *pcrt::python::deviceObject(const Device &device) {
  const auto &all = Devices::all();
  auto found = std::find(all.begin(), all.end(), &device);
  return deviceObjects[static_cast<size_t>(found - all.begin())];
}

Device *pcrt::python::deviceOf(PyObject *object) {
  for (size_t i = 0; i < deviceObjects.size(); ++i)
    if (deviceObjects[i] == object)
      return Devices::all()[i];
  if (std::find(everyDeviceObject.begin(), everyDeviceObject.end(), object) == everyDeviceObject.end())
    PyErr_Format(PyExc_TypeError, "%R is not a device", object);
  else
    PyErr_Format(PyExc_ValueError,
                 "%R belongs to another process, and only that process can compute on it. What to do: take one of "
                 "local_devices(), or put the array on a mesh, by device_put(x, NamedSharding(mesh, spec))",
                 object);
  return nullptr;
}

const std::vector<PyObject *> &pcrt::python::allDeviceObjects() {
  return everyDeviceObject.empty() ? deviceObjects : everyDeviceObject;
}

void pcrt::python::setAllDeviceObjects(std::vector<PyObject *> objects) { everyDeviceObject = std::move(objects); }

/// None becomes null; false with an exception.
static bool optionalDevice(PyObject *object, Device *&device) {
  device = nullptr;
  return object == Py_None || (device = deviceOf(object));
}

//===-- Of one call
//------------------------------------------------------------------------------------------------===//

static thread_local Conflict lastConflict;

Conflict pcrt::python::takeConflict() { return std::exchange(lastConflict, Conflict()); }

void pcrt::python::raiseConflict(const char *name, PyObject *firstName, const ArrayObject *first, PyObject *secondName,
                                 const ArrayObject *second) {
  PyErr_Format(PyExc_ValueError,
               "%s: %U %S is committed to %R, %U %S to %R: a computation with both has no device; move one of them "
               "with device_put(x, device)",
               name, firstName, first->aval, deviceObject(*first->buffer->device()), secondName, second->aval,
               deviceObject(*second->buffer->device()));
}

static void conflict(const char *name, ArrayObject *const *leaves, size_t first, size_t second) {
  PyRef firstName = PyRef::steal(PyUnicode_FromFormat("argument %zu", first));
  PyRef secondName = PyRef::steal(PyUnicode_FromFormat("argument %zu", second));
  if (!firstName || !secondName)
    return;
  raiseConflict(name, firstName.get(), leaves[first], secondName.get(), leaves[second]);
  lastConflict = {true, first, second};
}

bool pcrt::python::placeLeaves(ArrayObject *const *leaves, const size_t *numbers, size_t count, Device *given,
                               const char *name, DevicePlacement &placement) {
  lastConflict.isSet = false;
  placement = {given ? given : &defaultDevice(), given != nullptr};
  size_t first = count;
  for (size_t i = 0; i < count; ++i) {
    const ArrayObject *leaf = leaves[numbers[i]];
    if (!leaf->committed)
      continue;
    Device *device = leaf->buffer->device();
    if (placement.committed && device != placement.device) {
      if (first < count)
        conflict(name, leaves, numbers[first], numbers[i]);
      else
        PyErr_Format(PyExc_ValueError,
                     "%s: argument %zu %S is committed to %R, but the function itself puts values on %R, and runs on "
                     "one device; leave the argument uncommitted, or put it there before the call",
                     name, numbers[i], leaf->aval, deviceObject(*device), deviceObject(*placement.device));
      return false;
    }
    first = placement.committed && first < count ? first : i;
    placement = {device, true};
  }
  return true;
}

//===-- Functions
//--------------------------------------------------------------------------------------------------===//

static PyObject *getDefaultDevice(PyObject *, PyObject *) { return Py_NewRef(deviceObject(defaultDevice())); }

static PyObject *setDefaultDevice(PyObject *, PyObject *object) {
  Device *device;
  if (!optionalDevice(object, device))
    return nullptr;
  commonDefault = device;
  Py_RETURN_NONE;
}

static PyObject *setPlatformDevice(PyObject *, PyObject *object) {
  Device *device;
  if (!optionalDevice(object, device))
    return nullptr;
  platformDefault = device;
  Py_RETURN_NONE;
}

static PyObject *swapDefaultDevice(PyObject *, PyObject *object) {
  Device *device;
  if (!optionalDevice(object, device))
    return nullptr;
  Device *before = std::exchange(ownDefault, device);
  return Py_NewRef(before ? deviceObject(*before) : Py_None);
}

static PyMethodDef functions[] = {
    {"default_device", getDefaultDevice, METH_NOARGS, "The device of this thread for arrays without a chosen device."},
    {"set_default_device", setDefaultDevice, METH_O, "Set the default device of all threads (None: the first)."},
    {"set_platform_device", setPlatformDevice, METH_O, "Set the default device for threads that have set none."},
    {"swap_default_device", swapDefaultDevice, METH_O, "Set this thread's own default device, return the previous."},
    {}};

bool pcrt::python::addDevicePlacementFunctions(PyObject *module) {
  return PyModule_AddFunctions(module, functions) == 0;
}

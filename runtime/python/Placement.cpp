// Default devices, copies between devices, what of a call is where, deferred arrays, transfer guards.
#include "Placement.h"

#include "Call.h"
#include "Context.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::python;

bool pcrt::python::severalDevices = false;
bool pcrt::python::guardsTransfers = false;

//===-- Devices
//-----------------------------------------------------------------------------------------------------===//

static thread_local Device *ownDefault = nullptr;
static Device *commonDefault = nullptr, *platformDefault = nullptr;
/// By place in Device::all().
static std::vector<PyObject *> deviceObjects;

Device &pcrt::python::defaultDevice() {
  if (!severalDevices)
    return Device::cpu();
  if (ownDefault)
    return *ownDefault;
  return commonDefault ? *commonDefault : platformDefault ? *platformDefault : Device::standard();
}

void pcrt::python::setDeviceObjects(std::vector<PyObject *> objects) {
  deviceObjects = std::move(objects);
  severalDevices = deviceObjects.size() > 1;
}

PyObject *pcrt::python::deviceObject(const Device &device) {
  const auto &all = Device::all();
  auto found = std::find(all.begin(), all.end(), &device);
  return deviceObjects[static_cast<size_t>(found - all.begin())];
}

Device *pcrt::python::deviceOf(PyObject *object) {
  for (size_t i = 0; i < deviceObjects.size(); ++i)
    if (deviceObjects[i] == object)
      return Device::all()[i];
  PyErr_Format(PyExc_TypeError, "%R is not a device", object);
  return nullptr;
}

/// None is null; false with an exception.
static bool optionalDevice(PyObject *object, Device *&device) {
  device = nullptr;
  return object == Py_None || (device = deviceOf(object));
}

//===-- Copies
//------------------------------------------------------------------------------------------------------===//

RefPtr<Buffer> pcrt::python::copyTo(Device &target, AvalObject *aval, Buffer &source) {
  RefPtr<Buffer> held(&source);
  if (isDeleted(&source)) {
    raise(*source.error());
    return nullptr;
  }
  RefPtr<Buffer> made = allocateBuffer(target, aval, "copying to another device");
  if (!made)
    return nullptr;
  Buffer *args[] = {&source}, *results[] = {made.get()};
  Launch copy = {nullptr, args, 1, results, 1, nullptr};
  return launchOn(target, copy, made->size()) ? made : nullptr;
}

static RefPtr<Buffer> madeOn(Device &target, ArrayObject *array);

RefPtr<Buffer> pcrt::python::elementsOn(Device &target, ArrayObject *array) {
  if (!ensureSize(array))
    return nullptr;
  if (isDeferred(array->buffer)) {
    // Elsewhere it is made apart, and the array itself stays as it is.
    if (array->buffer->device() != &target)
      return madeOn(target, array);
    if (!makeElements(array))
      return nullptr;
  }
  if (array->buffer->device() == &target)
    return RefPtr<Buffer>(array->buffer);
  if (!allowTransfer(Transfer::DeviceToDevice, reinterpret_cast<PyObject *>(array->aval), target))
    return nullptr;
  return copyTo(target, array->aval, *array->buffer);
}

//===-- Arrays that are made at their first use
//------------------------------------------------------------------===//

/// The memory of those that are not made yet.
static char notMade[PCRT_ALIGNMENT];

bool pcrt::python::isDeferred(const Buffer *buffer) { return buffer->data() == notMade; }

static void releaseMaker(void *maker) {
  if (isFinalizing())
    return;
  WithGil gil;
  Py_DECREF(static_cast<PyObject *>(maker));
}

/// Calls what makes a deferred array, with `target` for the default device and nothing being traced.
static RefPtr<Buffer> madeOn(Device &target, ArrayObject *array) {
  PyRef maker = PyRef::borrow(static_cast<PyObject *>(array->buffer->wrappedOwner()));
  PyRef aval = PyRef::borrow(reinterpret_cast<PyObject *>(array->aval));
  PyObject *trace = std::exchange(currentTrace, nullptr);
  Device *before = std::exchange(ownDefault, &target);
  PyRef made = PyRef::steal(PyObject_CallNoArgs(maker.get()));
  ownDefault = before;
  currentTrace = trace;
  if (!made)
    return nullptr;
  if (!isArray(made.get()) || isDeferred(asArray(made.get())->buffer) ||
      reinterpret_cast<PyObject *>(asArray(made.get())->aval) != aval.get()) {
    PyErr_Format(PyExc_TypeError, "a deferred array is to be a %S, made was %R", aval.get(), Py_TYPE(made.get()));
    return nullptr;
  }
  return elementsOn(target, asArray(made.get()));
}

bool pcrt::python::makeElements(ArrayObject *array) {
  PyRef held = PyRef::borrow(reinterpret_cast<PyObject *>(array));
  RefPtr<Buffer> made = madeOn(*array->buffer->device(), array);
  if (!made)
    return false;
  // Another thread may have made it, or deleted the array, meanwhile.
  if (isDeferred(array->buffer))
    std::exchange(array->buffer, made.take())->release();
  return true;
}

static PyObject *deferred(PyObject *, PyObject *args) {
  PyObject *aval, *maker;
  if (!PyArg_ParseTuple(args, "OO:deferred", &aval, &maker))
    return nullptr;
  if (!isAval(aval) || !reinterpret_cast<AvalObject *>(aval)->isConcrete()) {
    PyErr_SetString(PyExc_TypeError, "deferred: takes a concrete ShapedArray and a function");
    return nullptr;
  }
  if (!severalDevices)
    return PyObject_CallNoArgs(maker);
  auto buffer = Buffer::wrap(&defaultDevice(), notMade, 0, releaseMaker, Py_NewRef(maker));
  return newArray(reinterpret_cast<AvalObject *>(aval), std::move(buffer));
}

//===-- Transfer guards
//--------------------------------------------------------------------------------------------===//

namespace {
enum class Guard : int8_t { Unset = -1, Allow, Log, Disallow, LogExplicit, DisallowExplicit };
constexpr int transferCount = 3;
const char *const guardNames[] = {"allow", "log", "disallow", "log_explicit", "disallow_explicit"};
const char *const transferNames[] = {"host-to-device", "device-to-device", "device-to-host"};
} // namespace

static thread_local Guard ownGuards[transferCount] = {Guard::Unset, Guard::Unset, Guard::Unset};
static Guard commonGuards[transferCount] = {Guard::Allow, Guard::Allow, Guard::Allow};
static thread_local bool explicitNow = false, unguarded = false;
static PyObject *transferLog = nullptr;

UnguardedTransfers::UnguardedTransfers() : before(std::exchange(unguarded, true)) {}
UnguardedTransfers::~UnguardedTransfers() { unguarded = before; }

bool pcrt::python::allowTransferSlow(Transfer transfer, PyObject *what, const Device &target) {
  auto which = static_cast<unsigned>(transfer);
  Guard guard = ownGuards[which] == Guard::Unset ? commonGuards[which] : ownGuards[which];
  bool applies = guard >= Guard::LogExplicit || (guard != Guard::Allow && !explicitNow);
  if (!applies || unguarded)
    return true;
  PyRef text =
      PyRef::steal(PyUnicode_FromFormat("%s transfer of %S to %R", transferNames[which], what, deviceObject(target)));
  if (!text)
    return false;
  if (guard == Guard::Disallow || guard == Guard::DisallowExplicit) {
    PyErr_Format(PyExc_RuntimeError,
                 "%U: transfer_guard is \"%s\"; %s, or allow it with `with transfer_guard(\"allow\"):`", text.get(),
                 guardNames[static_cast<int>(guard)],
                 guard == Guard::Disallow ? "ask for it with device_put" : "keep the values where they are");
    return false;
  }
  PyRef logged = PyRef::steal(transferLog ? PyObject_CallOneArg(transferLog, text.get()) : Py_NewRef(Py_None));
  return static_cast<bool>(logged);
}

static bool guardOf(PyObject *name, Guard &guard) {
  guard = Guard::Unset;
  if (name == Py_None)
    return true;
  const char *text = PyUnicode_AsUTF8(name);
  for (int i = 0; text && i < 5; ++i)
    if (std::strcmp(text, guardNames[i]) == 0)
      guard = static_cast<Guard>(i);
  if (text && guard == Guard::Unset)
    PyErr_Format(PyExc_ValueError, "there is no transfer guard %R", name);
  return guard != Guard::Unset;
}

static PyObject *nameOf(Guard guard) {
  if (guard == Guard::Unset)
    Py_RETURN_NONE;
  return PyUnicode_FromString(guardNames[static_cast<int>(guard)]);
}

static bool readGuard(PyObject *args, const char *format, unsigned &which, Guard &guard) {
  PyObject *name;
  if (!PyArg_ParseTuple(args, format, &which, &name) || !guardOf(name, guard))
    return false;
  if (which >= transferCount) {
    PyErr_SetString(PyExc_ValueError, "there are three kinds of transfers");
    return false;
  }
  guardsTransfers = guardsTransfers || guard > Guard::Allow;
  return true;
}

static PyObject *setTransferGuard(PyObject *, PyObject *args) {
  unsigned which;
  Guard guard;
  if (!readGuard(args, "IO:set_transfer_guard", which, guard))
    return nullptr;
  commonGuards[which] = guard == Guard::Unset ? Guard::Allow : guard;
  Py_RETURN_NONE;
}

static PyObject *swapTransferGuard(PyObject *, PyObject *args) {
  unsigned which;
  Guard guard;
  if (!readGuard(args, "IO:swap_transfer_guard", which, guard))
    return nullptr;
  return nameOf(std::exchange(ownGuards[which], guard));
}

static PyObject *swapExplicitTransfers(PyObject *, PyObject *value) {
  return PyBool_FromLong(std::exchange(explicitNow, value == Py_True));
}

static PyObject *setTransferLog(PyObject *, PyObject *function) {
  Py_XSETREF(transferLog, Py_NewRef(function));
  Py_RETURN_NONE;
}

//===-- Of one call
//------------------------------------------------------------------------------------------------===//

static thread_local Conflict lastConflict;

Conflict pcrt::python::takeConflict() { return std::exchange(lastConflict, Conflict()); }

void pcrt::python::raiseConflict(const char *name, PyObject *firstName, const ArrayObject *first, PyObject *secondName,
                                 const ArrayObject *second) {
  PyErr_Format(PyExc_ValueError,
               "%s: %U %S is committed to %R, %U %S to %R: what is computed from them has no place; move one of them "
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
                               const char *name, Placement &placement) {
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

/// put(array, device, donate, copy): the array committed to the device.
static PyObject *put(PyObject *, PyObject *args) {
  PyObject *object, *place;
  int donate, copy;
  if (!PyArg_ParseTuple(args, "O!Opp:put", arrayType, &object, &place, &donate, &copy))
    return nullptr;
  Device *device = deviceOf(place);
  ArrayObject *array = asArray(object);
  if (!device || !ensureSize(array))
    return nullptr;
  if (isDeleted(array->buffer)) {
    raise(*array->buffer->error());
    return nullptr;
  }
  bool isThere = array->buffer->device() == device;
  if (isThere && array->committed && !donate && !copy)
    return shareElements(array);
  bool before = std::exchange(explicitNow, true);
  RefPtr<Buffer> buffer = elementsOn(*device, array);
  explicitNow = before;
  if (buffer && isThere && copy)
    buffer = copyTo(*device, array->aval, *buffer);
  if (!buffer)
    return nullptr;
  if (donate && !isDeleted(array->buffer)) {
    const char *line = launchPlace();
    deleteElements(array, std::string("this array was donated to device_put") + (line ? " at " : "") +
                              (line ? line : "") + ", which took its memory: use the result instead");
  }
  return newArray(array->aval, std::move(buffer), /*committed=*/true);
}

/// with_commitment(array, committed): the same elements, of an array that is committed or not.
static PyObject *withCommitment(PyObject *, PyObject *args) {
  PyObject *object;
  int committed;
  if (!PyArg_ParseTuple(args, "O!p:with_commitment", arrayType, &object, &committed))
    return nullptr;
  ArrayObject *array = asArray(object);
  if (!ensureSize(array))
    return nullptr;
  if (array->committed == static_cast<bool>(committed))
    return Py_NewRef(object);
  return newArray(array->aval, RefPtr<Buffer>(array->buffer), committed);
}

static PyMethodDef functions[] = {
    {"default_device", getDefaultDevice, METH_NOARGS, "Where this thread puts what nobody said a place for."},
    {"set_default_device", setDefaultDevice, METH_O, "Set the default device of all threads (None: the first)."},
    {"set_platform_device", setPlatformDevice, METH_O, "Set what is the default device where none was set."},
    {"swap_default_device", swapDefaultDevice, METH_O, "Set this thread's own default device, return the previous."},
    {"put", put, METH_VARARGS, "put(array, device, donate, copy): the array committed to the device."},
    {"with_commitment", withCommitment, METH_VARARGS, "The same elements, of an array that is committed or not."},
    {"deferred", deferred, METH_VARARGS, "deferred(aval, make): an array that is made where it is first used."},
    {"set_transfer_guard", setTransferGuard, METH_VARARGS, "Set the guard of a kind of transfers for all threads."},
    {"swap_transfer_guard", swapTransferGuard, METH_VARARGS, "Set this thread's own guard, return the previous."},
    {"swap_explicit_transfers", swapExplicitTransfers, METH_O, "Whether what this thread transfers was asked for."},
    {"set_transfer_log", setTransferLog, METH_O, "Set the function that is told of transfers that are to be logged."},
    {}};

bool pcrt::python::addPlacementFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

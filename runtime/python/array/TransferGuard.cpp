// Guards of transfers, of the process and of its threads.
#include "array/TransferGuard.h"

#include <cstring>

using namespace pcrt;
using namespace pcrt::python;

bool pcrt::python::guardsTransfers = false;

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

ExplicitTransfers::ExplicitTransfers() : before(std::exchange(explicitNow, true)) {}
ExplicitTransfers::~ExplicitTransfers() { explicitNow = before; }

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

static PyMethodDef functions[] = {
    {"set_transfer_guard", setTransferGuard, METH_VARARGS, "Set the guard of a kind of transfers for all threads."},
    {"swap_transfer_guard", swapTransferGuard, METH_VARARGS, "Set this thread's own guard, return the previous."},
    {"swap_explicit_transfers", swapExplicitTransfers, METH_O, "Whether this thread's transfers are explicit."},
    {"set_transfer_log", setTransferLog, METH_O, "Set the function that logs transfers."},
    {}};

bool pcrt::python::addTransferGuardFunctions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

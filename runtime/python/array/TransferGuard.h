// Transfer guards, which forbid or log unwanted transfers. After DevicePlacement.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_TRANSFERGUARD_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_TRANSFERGUARD_H

#include "array/DevicePlacement.h"

namespace pcrt::python {

enum class Transfer : unsigned { HostToDevice, DeviceToDevice, DeviceToHost };
/// Whether any guard was ever set.
extern bool guardsTransfers;
/// Out of line, for `allowTransfer`.
bool allowTransferSlow(Transfer transfer, PyObject *what, const Device &target);
/// False with an exception if the active guard forbids the transfer of `what`, which the message shows.
inline bool allowTransfer(Transfer transfer, PyObject *what, const Device &target) {
  return !guardsTransfers || allowTransferSlow(transfer, what, target);
}

/// Active while a leaf that passed the guard is converted, possibly by Python.
class UnguardedTransfers {
public:
  UnguardedTransfers();
  ~UnguardedTransfers();
  UnguardedTransfers(const UnguardedTransfers &) = delete;
  UnguardedTransfers &operator=(const UnguardedTransfers &) = delete;

private:
  const bool before;
};

/// Active during a transfer that the program requested.
class ExplicitTransfers {
public:
  ExplicitTransfers();
  ~ExplicitTransfers();
  ExplicitTransfers(const ExplicitTransfers &) = delete;
  ExplicitTransfers &operator=(const ExplicitTransfers &) = delete;

private:
  const bool before;
};

bool addTransferGuardFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_TRANSFERGUARD_H

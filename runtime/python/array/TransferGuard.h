// Transfers that the program does not want: guards, which forbid or log them. After DevicePlacement.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_TRANSFERGUARD_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_TRANSFERGUARD_H

#include "array/DevicePlacement.h"

namespace pcrt::python {

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

/// While a transfer is made that the program asked for.
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

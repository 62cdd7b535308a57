// Reports the reason why the memory of a donated array could not be used.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_DONATIONREPORT_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_DONATIONREPORT_H

#include "array/Array.h"

#include <string>

namespace pcrt::python {

/// Reports the reason why a donated array is copied; `twice` if the call has it as two arguments. False with an
/// exception set.
bool reportKept(const std::string &name, const Buffer &buffer, AvalObject *aval, bool twice);

bool addDonationFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_DONATIONREPORT_H

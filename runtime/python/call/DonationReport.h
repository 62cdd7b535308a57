// Why the memory of a donated array could not be taken, told to the program.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_DONATIONREPORT_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_DONATIONREPORT_H

#include "array/Array.h"

#include <string>

namespace pcrt::python {

/// Tells the program why the memory of an array that it donated is copied and not taken; `twice` when the call has it
/// twice. False with an exception set.
bool reportKept(const std::string &name, const Buffer &buffer, AvalObject *aval, bool twice);

bool addDonationFunctions(PyObject *module);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_DONATIONREPORT_H

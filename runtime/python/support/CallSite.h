// The call site in the program, for errors and profiles.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUPPORT_CALLSITE_H
#define PYCOMPILER_RUNTIME_PYTHON_SUPPORT_CALLSITE_H

#include "support/PyRef.h"

namespace pcrt::python {

/// The position of the running Python code, outside of this package: "file.py:12". Lives forever; null if unknown.
const char *callSite();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUPPORT_CALLSITE_H

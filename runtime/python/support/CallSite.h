// Where the program called: what errors and profiles name.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUPPORT_CALLSITE_H
#define PYCOMPILER_RUNTIME_PYTHON_SUPPORT_CALLSITE_H

#include "support/PyRef.h"

namespace pcrt::python {

/// Where the running Python code is, outside of this package: "file.py:12". Lives forever; null when it is not known.
const char *callSite();

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUPPORT_CALLSITE_H

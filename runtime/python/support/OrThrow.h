// Connects the raw code, which sets exceptions, with nanobind's, which throws them.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUPPORT_ORTHROW_H
#define PYCOMPILER_RUNTIME_PYTHON_SUPPORT_ORTHROW_H

#include "support/PyRef.h"

#include <nanobind/nanobind.h>

namespace pcrt::python {

/// Throws if the raw code has set an exception.
template <typename T> T orThrow(T value) {
  if (!value)
    throw nanobind::python_error();
  return value;
}

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUPPORT_ORTHROW_H

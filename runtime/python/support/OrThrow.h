// Between the raw code, which sets exceptions, and nanobind's, which throws them.
#ifndef PYCOMPILER_RUNTIME_PYTHON_SUPPORT_ORTHROW_H
#define PYCOMPILER_RUNTIME_PYTHON_SUPPORT_ORTHROW_H

#include "support/PyRef.h"

#include <nanobind/nanobind.h>

namespace pcrt::python {

/// Lets an exception that the raw code set continue.
template <typename T> T orThrow(T value) {
  if (!value)
    throw nanobind::python_error();
  return value;
}

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_SUPPORT_ORTHROW_H

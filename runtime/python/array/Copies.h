// Copies of elements between memories, on the stream of the target. After Array and Launch.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_COPIES_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_COPIES_H

#include "array/Array.h"

namespace pcrt::python {

/// A copy of the buffer in the memory of `target`, which may be pending; null with an exception. The GIL may be
/// released meanwhile.
RefPtr<Buffer> copyTo(Device &target, AvalObject *aval, Buffer &source);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_COPIES_H

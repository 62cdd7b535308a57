// Kernels that the build compiled: found by operation and dtype. After BlockKernel.
#ifndef PYCOMPILER_RUNTIME_PYTHON_KERNELS_H
#define PYCOMPILER_RUNTIME_PYTHON_KERNELS_H

#include "runtime/BlockKernel.h"

namespace pcrt::python {

/// The kernel of an op of the array dialect on operands of a dtype; null if this CPU supports none.
RefPtr<BlockKernel> builtKernel(std::string_view op, DType operand);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_KERNELS_H

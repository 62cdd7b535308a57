// The shared functions (lib/Entry/SharedFunctions.h) that the build compiles for common machines
// (lib/Target/BuiltFunctions.cpp): those of lib/Cpu/Matmul/MatmulKernels.h and lib/Cpu/Loops/TransposeFunction.h.
#ifndef ARRAY_CPU_COMMONFUNCTIONS_H
#define ARRAY_CPU_COMMONFUNCTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::array {

/// Adds the shared functions that the build compiles, for registers of `vectorBits`.
void addCommonFunctions(ModuleOp module, unsigned vectorBits);

} // namespace mlir::array

#endif // ARRAY_CPU_COMMONFUNCTIONS_H

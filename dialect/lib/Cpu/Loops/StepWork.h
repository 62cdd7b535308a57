// The part of array-parallelize-loops that decides for the steps of a loop of the program as a whole.
#ifndef ARRAY_LIB_CPU_LOOPS_STEPWORK_H
#define ARRAY_LIB_CPU_LOOPS_STEPWORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::array {

/// Takes the marks of parallel loops that are short beside the rest of their step, for each loop of the program in a
/// function, also those in the kernels that it calls.
void keepSmallLoops(func::FuncOp function);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_LOOPS_STEPWORK_H

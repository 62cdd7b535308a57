// A part of array-fuse-elementwise.
#ifndef ARRAY_LIB_TRANSFORMS_FUSEVARIANCE_H
#define ARRAY_LIB_TRANSFORMS_FUSEVARIANCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::array {

/// Replaces sums of squared deviations from the mean over large arrays by sums over blocks, each of which is read once.
void fuseVariances(func::FuncOp function);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_FUSEVARIANCE_H

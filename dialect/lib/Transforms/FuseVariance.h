// A part of array-fuse-elementwise.
#ifndef ARRAY_LIB_TRANSFORMS_FUSEVARIANCE_H
#define ARRAY_LIB_TRANSFORMS_FUSEVARIANCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::array {

/// Sums of squared deviations from the mean over large arrays become sums over blocks, of which each is read once.
void fuseVariances(func::FuncOp function);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_FUSEVARIANCE_H

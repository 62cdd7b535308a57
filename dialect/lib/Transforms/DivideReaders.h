// A part of array-fuse-elementwise.
#ifndef ARRAY_LIB_TRANSFORMS_DIVIDEREADERS_H
#define ARRAY_LIB_TRANSFORMS_DIVIDEREADERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// Divides elementwise readers of concatenations, padding and rotations into one op for each part, which reads the
/// sources of the part. A producer of a source that costs at most `cheapCost`, or that has no other reader, is
/// recomputed for each part. `costOf` is the cost of an element of an op. Returns whether an op was divided.
bool divideReaders(func::FuncOp function, function_ref<int64_t(linalg::GenericOp)> costOf, int64_t cheapCost);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_DIVIDEREADERS_H

// A part of array-fuse-elementwise.
#ifndef ARRAY_LIB_TRANSFORMS_DIVIDEREADERS_H
#define ARRAY_LIB_TRANSFORMS_DIVIDEREADERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// Divides elementwise readers of concatenations, padding and rotations into one op for each part, which reads the
/// sources of the part. A producer of a source for which `isCheap` holds, or that has no other reader, is computed
/// again for each part. Returns whether an op was divided.
bool divideReaders(func::FuncOp function, function_ref<bool(linalg::GenericOp)> isCheap);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_DIVIDEREADERS_H

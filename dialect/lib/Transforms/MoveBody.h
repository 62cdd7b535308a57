// A part of array-fuse-elementwise.
#ifndef ARRAY_LIB_TRANSFORMS_MOVEBODY_H
#define ARRAY_LIB_TRANSFORMS_MOVEBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// Moves the body of an elementwise producer into its only reader, if both have the same loops and the joint body has
/// at most `mostOperations`. The producer of `operand` is erased.
bool moveIntoReader(RewriterBase &rewriter, OpOperand *operand, int64_t mostOperations);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_MOVEBODY_H

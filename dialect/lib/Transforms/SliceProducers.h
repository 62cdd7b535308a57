// A part of array-fuse-elementwise.
#ifndef ARRAY_LIB_TRANSFORMS_SLICEPRODUCERS_H
#define ARRAY_LIB_TRANSFORMS_SLICEPRODUCERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// The slices of an op's result, if one op reads slices of it, and nothing else reads it.
struct ReadSlices {
  linalg::GenericOp reader;
  int64_t different; ///< The number of different slices.
};

std::optional<ReadSlices> slicesOf(linalg::GenericOp producer);

/// Computes each different slice of an elementwise producer by an op on slices of its operands, and erases the
/// producer.
void computeSlices(RewriterBase &rewriter, linalg::GenericOp producer);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_SLICEPRODUCERS_H

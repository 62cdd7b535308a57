// Vectors of several dimensions that are assembled from scalars. Neither lowering to LLVM supports them.
#ifndef ARRAY_LIB_GPU_KERNELS_UNROLLVECTORS_H
#define ARRAY_LIB_GPU_KERNELS_UNROLLVECTORS_H

#include "mlir/IR/Operation.h"

namespace mlir::array {

/// Replaces each `vector.from_elements` of several dimensions in `root` by one for each row, and inserts these.
void unrollFromElements(Operation *root);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELS_UNROLLVECTORS_H

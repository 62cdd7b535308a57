// The elementwise operation that alone reads a product (findEpilogue), for the passes that compute it with the product:
// array-map-matmuls-to-gpu, array-map-to-gpu-libraries.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULEPILOGUE_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULEPILOGUE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// Whether the product can be computed where the epilogue is, element by element.
bool canFuse(linalg::LinalgOp product, linalg::GenericOp epilogue);

/// Removes both, with the memory of the sums and what fills it.
void eraseWithEpilogue(linalg::LinalgOp product, linalg::GenericOp epilogue);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULEPILOGUE_H

// The epilogue of a matmul (findEpilogue), for the passes that compute it with the matmul: array-map-matmuls-to-gpu,
// array-map-to-gpu-libraries.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULEPILOGUE_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULEPILOGUE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// Whether the matmul can be computed at the position of the epilogue, element by element.
bool canFuse(linalg::LinalgOp product, linalg::GenericOp epilogue);

/// Erases both, with the memory of the sums and its fills.
void eraseWithEpilogue(linalg::LinalgOp product, linalg::GenericOp epilogue);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULEPILOGUE_H

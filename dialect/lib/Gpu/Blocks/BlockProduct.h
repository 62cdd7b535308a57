// Products inside the body of an own kernel, by the tensor cores of a block's warps.
#ifndef ARRAY_LIB_GPU_BLOCKS_BLOCKPRODUCT_H
#define ARRAY_LIB_GPU_BLOCKS_BLOCKPRODUCT_H

#include "Gpu/Kernels/KernelBuilder.h"

namespace mlir::array {

/// Emits an op with the instructions mma.sync of sm_80; false if the op is no product, or its types or sizes have none.
bool emitTensorCoreProduct(KernelBuilder &k, linalg::LinalgOp op, const Member &member, int64_t threads);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_BLOCKS_BLOCKPRODUCT_H

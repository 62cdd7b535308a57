// Operations inside the body of an own kernel: the threads of one block share each of them.
#ifndef ARRAY_LIB_GPU_BLOCKS_BLOCKOPERATIONS_H
#define ARRAY_LIB_GPU_BLOCKS_BLOCKOPERATIONS_H

#include "Gpu/Kernels/KernelJoin.h"

namespace mlir::array {

/// The threads for which a linalg op or a copy has work.
int64_t threadsWanted(Operation *op);

/// Replaces a linalg op or a copy by the code of `threads` threads, a power of two of at least a warp. All threads of
/// the block reach it. With `hasCores`, the chip has the tensor cores of sm_80. Fails, with an error, for an op without
/// a linear iteration space.
LogicalResult shareAmongThreads(gpu::LaunchOp launch, Operation *op, int64_t threads, bool hasCores);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_BLOCKS_BLOCKOPERATIONS_H

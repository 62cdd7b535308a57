// The end of a matmul's kernel: the epilogue, and the result in memory.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULSTORE_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULSTORE_H

#include "GpuMatmulMultiplier.h"

namespace mlir::array {

/// Stores the sums of a thread as the matmul's result, which begins `start` elements into its buffer.
void storeProduct(GpuMatmulKernel &kernel, ArrayRef<GpuMatmulFragment> fragments, bool accumulates, Value start);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULSTORE_H

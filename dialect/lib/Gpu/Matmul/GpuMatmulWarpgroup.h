// Multiplies tiles with the tensor cores of sm_90a, by instructions of four warps at once.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULWARPGROUP_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULWARPGROUP_H

#include "GpuMatmulMultiplier.h"

namespace mlir::array {

std::unique_ptr<GpuMatmulMultiplier> makeWarpgroupMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left,
                                                             GpuMatmulLoader &right);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULWARPGROUP_H

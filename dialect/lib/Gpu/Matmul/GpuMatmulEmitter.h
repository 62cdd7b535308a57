// The kernel of one matmul. MapMatmulsToGpu.cpp decides which matmuls have one.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULEMITTER_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULEMITTER_H

#include "GpuMatmulTiling.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Emits the launch. With `accumulates`, the sums are added to the result.
void emitProduct(ImplicitLocOpBuilder &b, const GpuMatmul &product, const GpuMatmulTiling &plan, bool accumulates);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULEMITTER_H

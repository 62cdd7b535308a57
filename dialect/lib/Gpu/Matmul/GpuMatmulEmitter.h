// The kernel of one product. MapProductsToGpu.cpp decides which products have one.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULEMITTER_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULEMITTER_H

#include "GpuMatmulTiling.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Emits the launch. With `accumulates`, the sums are added to what the result holds.
void emitProduct(ImplicitLocOpBuilder &b, const GpuProduct &product, const ProductTiling &plan, bool accumulates);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULEMITTER_H

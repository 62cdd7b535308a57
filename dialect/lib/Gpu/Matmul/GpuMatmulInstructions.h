// The GPU's instructions for matmuls, as operations of the NVGPU and NVVM dialects. Only GpuMatmulInstructions.cpp
// includes the headers of these dialects, because each file takes some seconds to parse them.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULINSTRUCTIONS_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULINSTRUCTIONS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// cp.async: copies `width` adjacent elements from `source[offset]` in global memory to `target[indices]` in shared
/// memory. Elements from `count` on, if given, become zero.
void createAsyncCopy(ImplicitLocOpBuilder &b, Value target, ValueRange indices, Value source, Value offset,
                     int64_t width, Value count, bool bypassesFirstCache);
/// Makes a group of the copies since the last call.
void createCommitCopies(ImplicitLocOpBuilder &b);
/// Waits until at most `pending` groups of copies are not complete.
void createWaitForCopies(ImplicitLocOpBuilder &b, int64_t pending);

/// ldmatrix: reads four matrices of 8 rows of 16 bytes from shared memory, at the address that each lane gives.
Value createLoadMatrices(ImplicitLocOpBuilder &b, VectorType type, Value memory, ValueRange indices, bool transposes);
/// The bits of an f32 that is rounded to tf32, to the nearest. Ties go away from zero.
Value createRoundToTf32(ImplicitLocOpBuilder &b, Value number);
/// mma.sync: `sum + left * right`. `shape` is m, n, k.
Value createMma(ImplicitLocOpBuilder &b, Value left, Value right, Value sum, ArrayRef<int64_t> shape, bool isTf32);

/// Makes the threads' writes to shared memory visible to the instructions below.
void createSharedMemoryFence(ImplicitLocOpBuilder &b);
/// One wgmma.mma_async of a warpgroup.
struct WarpgroupMma {
  int64_t m, n, k;
  bool isHalf;                ///< f16. The other type is bf16.
  bool isLeftRow, isRightRow; ///< The layouts: "row" or "col".
};
/// Begins `sums + left * right`, whose factors are descriptors of shared memory.
Value createWarpgroupMma(ImplicitLocOpBuilder &b, Value sums, Value left, Value right, const WarpgroupMma &mma);
/// Orders accesses of registers before the warpgroup's next matmul.
void createWarpgroupFence(ImplicitLocOpBuilder &b);
/// Makes a group of the matmuls since the last call.
void createCommitWarpgroup(ImplicitLocOpBuilder &b);
/// Waits until at most `pending` groups of matmuls are not complete.
void createWaitForWarpgroup(ImplicitLocOpBuilder &b, int64_t pending);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULINSTRUCTIONS_H

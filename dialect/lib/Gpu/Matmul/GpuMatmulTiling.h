// How a product is cut into tiles, and what multiplies them: the cost model of array-map-matmuls-to-gpu.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULTILING_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULTILING_H

#include "GpuMatmulForm.h"

#include <optional>

namespace mlir::array {

/// What multiplies: threads, each a part of a tile, or the tensor cores, each warp a part of it, or four warps
/// together.
enum class GpuMatmulUnit { Threads, TensorCores, Warpgroups };

/// What the choice rests on.
struct GpuMatmulChip {
  unsigned capability; ///< 80 is 8.0
  bool hasWarpgroups;  ///< has wgmma: sm_90a alone
  int64_t leastBlocks; ///< keep it busy
};

/// What a block computes at once, and with how many warps. `k` terms of it are in shared memory at a time, for each of
/// `stages`. At least `resident` blocks are to have room on a processor.
struct GpuMatmulTile {
  int64_t m, n, k, warpsM, warpsN, stages, resident = 1;

  int64_t threads() const { return 32 * warpsM * warpsN; }
  int64_t warpM() const { return m / warpsM; }
  int64_t warpN() const { return n / warpsN; }
};

struct GpuMatmulTiling {
  GpuMatmulUnit unit;
  GpuMatmulTile tile;
  /// Blocks that share the terms of a tile of the result, each with sums of its own.
  int64_t splits;
  /// Whether elements may be copied to shared memory without passing through registers.
  bool copiesAsync;
  /// Bytes of a row of the left factor that one instruction of a tensor core multiplies.
  int64_t instructionBytes;
  /// Of shared memory that the launch asks for; 0 where the kernel has it.
  int64_t dynamicBytes = 0;
};

/// The plan, or none where each thread had better have results of its own.
std::optional<GpuMatmulTiling> tileProduct(const GpuMatmul &product, const GpuMatmulChip &chip);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULTILING_H

// Chooses the tiles of a matmul and the unit that multiplies them: the cost model of array-map-matmuls-to-gpu.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULTILING_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULTILING_H

#include "GpuMatmulForm.h"

#include <optional>

namespace mlir::array {

/// The multiplying unit: threads (each has a part of a tile), tensor cores (each warp has a part), or tensor cores with
/// four warps together.
enum class GpuMatmulUnit { Threads, TensorCores, Warpgroups };

/// The properties of a chip that the choice depends on.
struct GpuMatmulChip {
  unsigned capability; ///< 80 is 8.0
  bool hasWarpgroups;  ///< has wgmma: sm_90a alone
  int64_t leastBlocks; ///< blocks that keep the chip busy
};

/// The tile of a block, and its number of warps. `k` terms of it are in shared memory at a time, in each of `stages`.
/// At least `resident` blocks must fit on a multiprocessor.
struct GpuMatmulTile {
  int64_t m, n, k, warpsM, warpsN, stages, resident = 1;

  int64_t threads() const { return 32 * warpsM * warpsN; }
  int64_t warpM() const { return m / warpsM; }
  int64_t warpN() const { return n / warpsN; }
};

struct GpuMatmulTiling {
  GpuMatmulUnit unit;
  GpuMatmulTile tile;
  /// Blocks that share the terms of a tile of the result, each with separate sums.
  int64_t splits;
  /// Whether elements may be copied to shared memory without registers.
  bool copiesAsync;
  /// Bytes of a row of the left factor that one instruction of a tensor core multiplies.
  int64_t instructionBytes;
  /// Bytes of dynamic shared memory; 0 if the kernel's is static.
  int64_t dynamicBytes = 0;
};

/// The plan, or none if separate results for each thread are better.
std::optional<GpuMatmulTiling> tileProduct(const GpuMatmul &product, const GpuMatmulChip &chip);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULTILING_H

// How a product is cut into tiles, and what multiplies them: the cost model of array-map-products-to-gpu.
#ifndef ARRAY_LIB_GPU_PRODUCTTILING_H
#define ARRAY_LIB_GPU_PRODUCTTILING_H

#include "ProductForm.h"

#include <optional>

namespace mlir::array {

/// What multiplies: threads, each a part of a tile, or the tensor cores, each warp a part of it.
enum class ProductUnit { Threads, TensorCores };

/// What a block computes at once, and with how many warps. `k` terms of it are in shared memory at a time, for each of
/// `stages`.
struct ProductTile {
  int64_t m, n, k, warpsM, warpsN, stages;

  int64_t threads() const { return 32 * warpsM * warpsN; }
  int64_t warpM() const { return m / warpsM; }
  int64_t warpN() const { return n / warpsN; }
};

struct ProductTiling {
  ProductUnit unit;
  ProductTile tile;
  /// Blocks that share the terms of a tile of the result, each with sums of its own.
  int64_t splits;
  /// Whether elements may be copied to shared memory without passing through registers.
  bool copiesAsync;
  /// Bytes of a row of the left factor that one instruction of a tensor core multiplies.
  int64_t instructionBytes;
};

/// The plan for a chip by its compute capability (80 is 8.0), or none where each thread had better have results of its
/// own. `leastBlocks` is how many blocks keep the chip busy.
std::optional<ProductTiling> tileProduct(const GpuProduct &product, unsigned capability, int64_t leastBlocks);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_PRODUCTTILING_H

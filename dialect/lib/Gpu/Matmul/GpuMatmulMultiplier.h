// Multiplies the tiles in shared memory and holds the sums of a block in the registers of its threads.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULMULTIPLIER_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULMULTIPLIER_H

#include "GpuMatmulLoader.h"

#include <memory>

namespace mlir::array {

/// Adjacent sums in a row of the block's tile.
struct GpuMatmulFragment {
  Value row, column; ///< of the first one
  Value sums;        ///< a vector
};

class GpuMatmulMultiplier {
public:
  GpuMatmulMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left, GpuMatmulLoader &right)
      : kernel(kernel), b(kernel.b), left(left), right(right) {}
  virtual ~GpuMatmulMultiplier() = default;

  /// The initial sums of a thread.
  virtual SmallVector<Value> zeros() = 0;
  /// The number of stages of shared memory that are read at a time.
  virtual int64_t stagesHeld() const { return 1; }
  /// The sums plus the terms of a stage.
  virtual SmallVector<Value> add(ValueRange sums, Value stage) = 0;
  /// The sums after the last stage.
  virtual SmallVector<Value> finish(ValueRange sums) { return sums; }
  /// A thread's sums, by rows.
  virtual SmallVector<GpuMatmulFragment> fragments(ValueRange sums) = 0;

protected:
  SmallVector<Value> zeros(int64_t count, VectorType type);
  /// The first row and column of the warp.
  Value warpRow() { return kernel.mul(kernel.div(kernel.warp, kernel.plan.tile.warpsN), kernel.plan.tile.warpM()); }
  Value warpColumn() { return kernel.mul(kernel.rem(kernel.warp, kernel.plan.tile.warpsN), kernel.plan.tile.warpN()); }

  GpuMatmulKernel &kernel;
  ImplicitLocOpBuilder &b;
  GpuMatmulLoader &left, &right;
};

/// For the plan's unit.
std::unique_ptr<GpuMatmulMultiplier> makeProductMultiplier(GpuMatmulKernel &kernel, GpuMatmulLoader &left,
                                                           GpuMatmulLoader &right);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULMULTIPLIER_H

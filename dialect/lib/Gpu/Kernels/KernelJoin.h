// Joins partial results of a reduction: within a thread, by shuffles within a warp, and through shared memory between
// the warps of a block.
#ifndef ARRAY_LIB_GPU_KERNELS_KERNELJOIN_H
#define ARRAY_LIB_GPU_KERNELS_KERNELJOIN_H

#include "Cpu/Loops/LoopBody.h"
#include "KernelBuilder.h"

namespace mlir::array {

class Join {
public:
  /// For an op whose outputs are all accumulated by an operation with a neutral element, or are the first extreme value
  /// and its index.
  static std::optional<Join> of(linalg::LinalgOp op);

  /// The value of an empty reduction.
  Values neutral(KernelBuilder &k) const;
  /// Joins two partial results; the order does not matter.
  Values operator()(KernelBuilder &k, ValueRange left, ValueRange right) const;

  /// Joins a thread's values for `lanes` neighbours, which are consecutive.
  Values ofLanes(KernelBuilder &k, Values parts, int64_t lanes) const;
  /// Joins the values of `width` neighbouring lanes of a warp; each of them gets the result. All lanes of the warp take
  /// part.
  Values inWarp(KernelBuilder &k, Values parts, int64_t width) const;
  /// Joins the values of the threads of a block; each gets the result. `thread` is the number of a thread in the block.
  Values inBlock(KernelBuilder &k, Values parts, Value thread, int64_t threads) const;

private:
  Values joinSearch(KernelBuilder &k, ValueRange left, ValueRange right) const;

  mutable linalg::LinalgOp op;            // mutable because its methods are not const
  SmallVector<loops::Combiner> combiners; // one for each output, unless
  std::optional<loops::ArgReduction> search;
};

/// A buffer with this many elements, shared by the threads of a block.
Value shareBuffer(KernelBuilder &k, ArrayRef<int64_t> sizes, Type element);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELS_KERNELJOIN_H

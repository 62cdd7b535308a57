// How partial results of a reduction become one: within a thread, by shuffles within a warp, through shared memory
// between the warps of a block.
#ifndef ARRAY_LIB_GPU_KERNELS_KERNELJOIN_H
#define ARRAY_LIB_GPU_KERNELS_KERNELJOIN_H

#include "Cpu/Loops/LoopBody.h"
#include "KernelBuilder.h"

namespace mlir::array {

class Join {
public:
  /// Of an op whose outputs are all accumulated by an operation with a neutral element, or are the first extreme value
  /// and where it stands.
  static std::optional<Join> of(linalg::LinalgOp op);

  /// What no element was added to.
  Values neutral(KernelBuilder &k) const;
  /// Of two partial results; the same whichever comes first.
  Values operator()(KernelBuilder &k, ValueRange left, ValueRange right) const;

  /// Joins what a thread has for `lanes` neighbours, which stand one after the other.
  Values ofLanes(KernelBuilder &k, Values parts, int64_t lanes) const;
  /// Joins what `width` neighbouring lanes of a warp have: each of them gets the result. All lanes of the warp come.
  Values inWarp(KernelBuilder &k, Values parts, int64_t width) const;
  /// Joins what the threads of a block have; each gets the result. `thread` is the number of a thread in the block.
  Values inBlock(KernelBuilder &k, Values parts, Value thread, int64_t threads) const;

private:
  Values joinSearch(KernelBuilder &k, ValueRange left, ValueRange right) const;

  mutable linalg::LinalgOp op;            // whose methods are not const
  SmallVector<loops::Combiner> combiners; // one for each output, unless
  std::optional<loops::ArgReduction> search;
};

/// The buffer of a block's threads for so many elements.
Value shareBuffer(KernelBuilder &k, ArrayRef<int64_t> sizes, Type element);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELS_KERNELJOIN_H

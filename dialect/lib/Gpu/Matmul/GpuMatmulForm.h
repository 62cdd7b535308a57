// A contraction or convolution on buffers as a matmul for tiles of threads: the positions of its operands' elements as
// linear functions of rows, columns, terms and batch. MapMatmulsToGpu.cpp decides whether it becomes a kernel.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULFORM_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULFORM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// A buffer whose element at an iteration is `start` plus a step for each loop.
struct GpuMatmulOperand {
  Value buffer;
  SmallVector<int64_t> steps; ///< by loop of the op
  int64_t start = 0;          ///< dynamic for a slice at an index
  int64_t extent = 1;         ///< number of elements from the first used one to the last

  Type element() const { return getElementTypeOrSelf(buffer.getType()); }
};

/// Loops with compatible steps in each operand.
struct GpuMatmulDim {
  int64_t size;
  SmallVector<int64_t> steps; ///< by operand
};

/// The outermost one first.
using GpuMatmulDims = SmallVector<GpuMatmulDim, 2>;

int64_t sizeOf(const GpuMatmulDims &dims);

/// result[batch, m, n] += sum over k of left[batch, m, k] * right[batch, k, n]. Each of these dimensions may have
/// several loops. A convolution has this form, too: its windows overlap in memory.
struct GpuMatmul {
  /// Numbers of operands. The inputs of the epilogue follow.
  enum : unsigned { Left, Right, Result, Inputs };

  linalg::LinalgOp op;
  SmallVector<GpuMatmulOperand> operands;
  GpuMatmulDims batch, m, n, k;
  /// The casts of a factor from its element in memory, the first one first.
  SmallVector<Operation *, 1> casts[2];
  Type factor[2], sum;
  /// The epilogue, or null: it computes the result from the sums.
  linalg::GenericOp epilogue;

  /// Distance from the sums of one split to those of the next; 0 for a result without splits.
  int64_t splitStep = 0;

  /// The widest vector along the innermost one of `along` (m, n or k) by which an operand may be accessed, at most 16
  /// bytes: its elements are adjacent and aligned, and all or none of them are in the matrix.
  int64_t widthAlong(unsigned operand, const GpuMatmulDims &along) const;

private:
  bool isAligned(unsigned operand, const GpuMatmulDims &along, int64_t width) const;
};

/// Analyzes the operation, with an epilogue if there is one. Fails if it is not a matmul of two buffers of static
/// shapes. Columns run along the result's memory if any dimension does. With `partial`, a dense buffer of the
/// dimensions (split, those of the result), sums go there instead.
FailureOr<GpuMatmul> readGpuProduct(linalg::LinalgOp op, linalg::GenericOp epilogue = {}, Value partial = {});

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULFORM_H

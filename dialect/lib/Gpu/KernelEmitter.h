// The work of the threads of a kernel for one linalg op on buffers. MapToGpu.cpp decides how many threads share a
// point.
#ifndef ARRAY_LIB_GPU_KERNELEMITTER_H
#define ARRAY_LIB_GPU_KERNELEMITTER_H

#include "../Transforms/LinalgToLoopsBody.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Threads of a warp.
constexpr int64_t kWarpSize = 32;

class KernelEmitter {
public:
  KernelEmitter(linalg::LinalgOp op, ImplicitLocOpBuilder &b);

  /// Points of the parallel dimensions, and steps of a reduction at each.
  int64_t points() const { return countOf(parallel); }
  int64_t steps() const { return countOf(reduced); }

  /// Whether the partial results of several threads can be joined: each output is accumulated by an operation that
  /// has a neutral element.
  bool canShare();
  /// Whether the reduction runs along what lies side by side in memory, so that the threads of a warp should share it.
  bool runsAlongMemory();

  /// The value that an output holds before the op; its element need not be read then.
  void setInitial(Value buffer, Value value) { initial[buffer] = value; }
  /// Whether the op adds to what is in a buffer, and uses it for nothing else.
  bool addsTo(Value buffer);

  /// How many neighbouring points a thread should take, so that it reads and writes up to 16 bytes at once: 1 where
  /// their elements do not lie side by side.
  int64_t neighbours();

  /// The work of a thread that has a point, the number of which is given, to itself.
  void emitPoint(Value point);
  /// The work of a thread that has so many points to itself, the first of which has the number `point`.
  void emitNeighbours(Value point, int64_t count);
  /// The work of one of `threads` threads that share a point: of a warp, or of a block. All of them come here.
  void emitShare(Value point, Value thread, int64_t threads, gpu::LaunchOp launch);

private:
  int64_t countOf(ArrayRef<unsigned> dims) const;
  SmallVector<OpOperand *> accumulated();
  bool isAccumulated(OpOperand &out);
  /// The indices of dims of a point or step by its number, the last dim running fastest.
  void place(ArrayRef<unsigned> dims, Value number);
  SmallVector<Value> emitLoops(ArrayRef<unsigned> dims, ArrayRef<Value> sums);
  SmallVector<Value> emitBody(ArrayRef<Value> sums);
  SmallVector<Value> cloneBody(IRMapping &mapping);
  SmallVector<Value> indicesOf(OpOperand *operand);
  /// Whether neighbouring points have neighbouring elements in an operand, which can be moved together.
  bool isDense(OpOperand &operand);
  Value load(OpOperand *operand);
  void store(Value value, OpOperand *operand);
  Value before(OpOperand *out);
  Value joinWarp(Value part, const loops::Combiner &combiner);
  Value joinBlock(Value part, const loops::Combiner &combiner, Value thread, int64_t warps, gpu::LaunchOp launch);
  Value combine(const loops::Combiner &combiner, Value x, Value y);
  Value shuffled(Value value, int64_t distance);

  linalg::LinalgOp op;
  ImplicitLocOpBuilder &b;
  SmallVector<int64_t> sizes;
  SmallVector<unsigned> parallel, reduced;
  SmallVector<Value> indices;
  DenseMap<Value, Value> initial;
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELEMITTER_H

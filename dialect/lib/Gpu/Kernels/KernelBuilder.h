// A launch under construction, with the common parts of kernels: the threads' numbers, indices of points, single and
// adjacent elements of operands, and the body of an op. The strategies (Kernel*.cpp) use it.
//
// A kernel reads a linalg op as an iteration space (IterationSpace.h): dimensions, and for each operand a flat buffer
// with one stride for each dimension. The kernel makes the views itself, so its arguments are whole buffers.
#ifndef ARRAY_LIB_GPU_KERNELS_KERNELBUILDER_H
#define ARRAY_LIB_GPU_KERNELS_KERNELBUILDER_H

#include "Analysis/IterationSpace.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

using loops::Access;
using loops::IterationSpace;
/// Values of neighbouring points, or accumulators of a kernel.
using Values = SmallVector<Value, 4>;

/// Threads of a warp, and of a block: eight warps hide the latency of memory on every generation, and leave 256
/// registers to each thread.
constexpr int64_t kWarpSize = 32, kBlockSize = 256;
/// Blocks that fill the largest GPU a few times over. The division of work does not depend on the machine, so that
/// results do not either.
constexpr int64_t kManyBlocks = 2048;

int64_t product(ArrayRef<int64_t> sizes);
/// The sizes of dimensions [first, end) of a space.
SmallVector<int64_t> sizesOf(const IterationSpace &space, unsigned first, unsigned end);
/// The number of parallel dimensions, which come first.
unsigned countParallel(const IterationSpace &space);

/// Whether an element's bits can be moved in vectors.
bool hasWholeBytes(Type element);
/// Whether groups of `lanes` elements along a dimension can be moved together: they are adjacent, and aligned to the
/// size of the group.
bool isWide(const Access &access, unsigned dim, int64_t lanes);
/// The number of neighbouring points of a thread along a dimension, such that it moves 16 bytes of the widest operand
/// along this dimension; 1 if there is no such operand.
int64_t lanesAlong(const IterationSpace &space, unsigned dim);

/// Whether a reduction runs along adjacent elements in memory, so that neighbouring threads should share it.
bool runsAlongMemory(const IterationSpace &space);

/// The computation of a kernel at each point: a linalg op, or a replacement of one. If a fill right before it defines
/// the value of an output, that value is the access's `init`, and the element is not read.
struct Member {
  using Body = std::function<Values(const IterationSpace &space, ArrayRef<Value> arguments, ArrayRef<Value> at)>;

  IterationSpace space;
  Body yields;
  size_t bodySize = 1; ///< operations

  /// The yielded values at a point, for the values of all accesses. Unused ones may be null.
  Values body(ArrayRef<Value> arguments, ArrayRef<Value> at) const { return yields(space, arguments, at); }

  bool reads(const Access &access) const { return !access.argument || !access.argument.use_empty(); }
};

class KernelBuilder : public ImplicitLocOpBuilder {
public:
  /// Creates a launch at an op, and builds inside it. `setGrid` sets the number of threads.
  KernelBuilder(Operation *at, StringRef name);
  /// Builds at an op inside an existing launch.
  KernelBuilder(gpu::LaunchOp launch, Operation *at);
  void setGrid(int64_t blocks, int64_t threads);
  gpu::LaunchOp getLaunch() { return launch; }
  /// Erases a launch that is not needed.
  void abandon() { launch->erase(); }

  /// Fails, with an error, if the op has no such space.
  FailureOr<Member> read(linalg::LinalgOp op, bool reorderReductions);

  Value block() { return launch.getBlockIds().x; }
  Value thread() { return launch.getThreadIds().x; }
  Value index(int64_t value) { return indices.index(*this, value); }
  Value add(Value x, Value y) { return indices.add(*this, getLoc(), x, y); }
  Value add(Value x, int64_t y) { return add(x, index(y)); }
  Value mul(Value x, int64_t y) { return indices.mul(*this, getLoc(), x, index(y)); }
  Value divide(Value x, int64_t y);
  Value remainder(Value x, int64_t y);
  Value least(Value x, int64_t y);
  Value isLess(Value x, Value y);
  Value isLess(Value x, int64_t y) { return isLess(x, index(y)); }
  /// The conjunction; null counts as true.
  Value both(Value x, Value y);
  /// A number limited to `count - 1`, and whether it was below `count` (null: always). So all threads reach barriers
  /// and shuffles; those beyond the end repeat the work of the last one.
  std::pair<Value, Value> clamp(Value number, int64_t count, bool isExact);

  /// Code that runs if the condition holds; always, without one.
  void when(Value condition, function_ref<void()> build);
  /// A loop that carries values: `build` gets the index and the values, and returns the next ones.
  Values loop(Value from, Value to, Value step, ValueRange carried, function_ref<Values(Value, ValueRange)> build);

  /// The indices of the point or step with a number, the last dimension fastest.
  Values place(ArrayRef<int64_t> sizes, Value number);
  /// The indices, moved by `distance` along a dimension.
  Values moved(ArrayRef<Value> at, unsigned dim, int64_t distance);

  Value load(const Access &access, ArrayRef<Value> at);
  /// The value of an operand before the op, which may be a known value instead of memory.
  Value before(const Access &access, ArrayRef<Value> at) { return access.init ? access.init : load(access, at); }
  void store(Value value, const Access &access, ArrayRef<Value> at);
  /// `lanes` elements from an element on, in one access of memory.
  Values loadWide(const Access &access, Value first, int64_t lanes);
  void storeWide(ValueRange values, const Access &access, Value first);
  /// The number of the element at these indices in its flat buffer.
  Value offsetOf(const Access &access, ArrayRef<Value> at);

private:
  Values body(linalg::LinalgOp op, const IterationSpace &space, ArrayRef<Value> arguments, ArrayRef<Value> at);

  gpu::LaunchOp launch;
  loops::IndexBuilder indices;
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELS_KERNELBUILDER_H

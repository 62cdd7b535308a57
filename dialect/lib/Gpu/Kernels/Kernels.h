// The strategies: each emits the kernel of an op, in a launch that the caller opened. MapToGpu.cpp chooses.
#ifndef ARRAY_LIB_GPU_KERNELS_KERNELS_H
#define ARRAY_LIB_GPU_KERNELS_KERNELS_H

#include "KernelJoin.h"

namespace mlir::array {

/// Every point for itself (KernelElementwise.cpp).
void emitElementwise(KernelBuilder &k, const Member &member);

/// Through tiles in shared memory (KernelTransposes.cpp); false if an op does not benefit.
bool emitTransposed(KernelBuilder &k, const Member &member);

/// A reduction along memory: several lanes of a warp, or a block, compute one result together (KernelRows.cpp). If
/// there are too few results to fill a GPU, several blocks share each, at most `mostParts`: each stores a part of every
/// output in temporaries [part][point], which are allocated before the launch. Returns the temporaries, none for one
/// part.
Values emitRows(KernelBuilder &k, const Member &member, const Join &join, int64_t mostParts = kManyBlocks);

/// A reduction across memory: neighbouring threads have adjacent results, and rows of threads and blocks share the
/// steps (KernelColumns.cpp). Without a join each thread has its own results.
Values emitColumns(KernelBuilder &k, const Member &member, const Join *join, int64_t mostParts = kManyBlocks);

/// The second pass of a reduction in parts: joins them with the previous values of the outputs. `member` is the op's in
/// this launch.
void emitJoinOfParts(KernelBuilder &k, const Member &member, const Join &join, ValueRange parts);

//===-- Parts of reductions (KernelParts.cpp) -------------------------------------------------------------------===//

/// Larger bodies, in operations, are not duplicated to have several loads in flight.
constexpr size_t kShortBody = 24;
/// Minimum steps of one block if several blocks share a reduction along memory.
constexpr int64_t kPartSteps = 4096;

/// The steps of a reduction, in parts.
struct Steps {
  Steps(int64_t steps, int64_t parts);
  int64_t steps, parts, ofPart;

  Value first(KernelBuilder &k, Value part) const { return parts == 1 ? k.index(0) : k.mul(part, ofPart); }
  Value end(KernelBuilder &k, Value part) const;
};

/// The loaded values of a thread's step, for adjacent points or steps (lanes): for each access, for each lane.
struct Loaded {
  SmallVector<Values, 8> at;     // of each lane
  SmallVector<Values> arguments; // of each access; outputs have none
};

/// Loads the operands of the body; the lanes lie along `dim`.
Loaded loadStep(KernelBuilder &k, const Member &member, unsigned dim, int64_t lanes, Values at);
/// The next values of the outputs of every lane, one lane after the other.
Values addStep(const Member &member, const Loaded &loaded, ValueRange sums);
/// A thread's steps from `from` to `to`, with several loads in flight.
Values sweep(KernelBuilder &k, Value from, Value to, int64_t stride, bool isShort, Values sums,
             function_ref<Loaded(Value)> load, function_ref<Values(const Loaded &, ValueRange)> add);

/// Allocates memory for the parts of all outputs, before the launch.
Values askForParts(KernelBuilder &k, const Member &member, int64_t parts, int64_t points);
/// Stores a thread's values for a point: into `parts` if there are any, else joined with the previous values of the
/// outputs.
void storeResult(KernelBuilder &k, const Member &member, const Join &join, ValueRange values, ArrayRef<Value> at,
                 ValueRange parts, Value number);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELS_KERNELS_H

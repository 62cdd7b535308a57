// The strategies: each makes the kernel of an op, in a launch that was opened for it. MapToGpu.cpp chooses.
#ifndef ARRAY_LIB_GPU_KERNELS_KERNELS_H
#define ARRAY_LIB_GPU_KERNELS_KERNELS_H

#include "KernelJoin.h"

namespace mlir::array {

/// Every point for itself (KernelElementwise.cpp).
void emitElementwise(KernelBuilder &k, const Member &member);

/// Through tiles in shared memory (KernelTransposes.cpp); false for an op that has no use for them.
bool emitTransposed(KernelBuilder &k, const Member &member);

/// A reduction along memory: some lanes of a warp, or a block, have a result together (KernelRows.cpp). Results that
/// are too few to fill a GPU are shared by several blocks, at most `mostParts`: each leaves a part of every output in
/// temporaries [part][point] that are asked for before the launch. They are returned, none for one part.
Values emitRows(KernelBuilder &k, const Member &member, const Join &join, int64_t mostParts = kManyBlocks);

/// A reduction across memory: neighbouring threads have neighbouring results, rows of threads share the steps, as do
/// blocks (KernelColumns.cpp). Without a join each thread has results to itself.
Values emitColumns(KernelBuilder &k, const Member &member, const Join *join, int64_t mostParts = kManyBlocks);

/// The second pass of a reduction that left parts: they are joined with what the outputs held. `member` is the op's in
/// this launch.
void emitJoinOfParts(KernelBuilder &k, const Member &member, const Join &join, ValueRange parts);

//===-- What reductions are made of (KernelParts.cpp) -----------------------------------------------------------===//

/// Bodies of more operations than this are not repeated to have several loads in flight.
constexpr size_t kShortBody = 24;
/// Of the steps of a reduction along memory that several blocks share, at least so many are one block's.
constexpr int64_t kPartSteps = 4096;

/// The steps of a reduction, in parts.
struct Steps {
  Steps(int64_t steps, int64_t parts);
  int64_t steps, parts, ofPart;

  Value first(KernelBuilder &k, Value part) const { return parts == 1 ? k.index(0) : k.mul(part, ofPart); }
  Value end(KernelBuilder &k, Value part) const;
};

/// What a thread has loaded for a step, for some neighbouring points or steps (lanes): for each access, for each lane.
struct Loaded {
  SmallVector<Values, 8> at;     // of each lane
  SmallVector<Values> arguments; // of each access; outputs have none
};

/// Loads what the body needs; `dim` is the one along which the lanes lie.
Loaded loadStep(KernelBuilder &k, const Member &member, unsigned dim, int64_t lanes, Values at);
/// The next values of the outputs of every lane, which stand one lane after the other.
Values addStep(const Member &member, const Loaded &loaded, ValueRange sums);
/// A thread's steps from one to another, several loads in flight.
Values sweep(KernelBuilder &k, Value from, Value to, int64_t stride, bool isShort, Values sums,
             function_ref<Loaded(Value)> load, function_ref<Values(const Loaded &, ValueRange)> add);

/// Memory for the parts of all outputs, before the launch.
Values askForParts(KernelBuilder &k, const Member &member, int64_t parts, int64_t points);
/// Stores what a thread has for a point: into `parts` if there are any, else joined with what the outputs held.
void storeResult(KernelBuilder &k, const Member &member, const Join &join, ValueRange values, ArrayRef<Value> at,
                 ValueRange parts, Value number);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELS_KERNELS_H

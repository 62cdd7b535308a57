// array.schedule: the schedule of the loops that a linalg op on buffers becomes. array-schedule-loops writes the one
// that the cost model chooses, a person may write another one, and array-vectorize-linalg obeys it.
//
// Loops have numbers: those of the iteration space, which has no unit dimensions, the widest strides and the parallel
// ones first, and neighbours merged. The entries of the dictionary; an absent one is not used:
//   loops       a string for each loop: the op's dimensions, the size, and "reduced" ("d0.d1: 4096"). Optional.
//   vector      the loop of the vectors; absent: scalar loops. All other entries need it.
//   lanes       of a vector: a power of two, at most four registers. Optional.
//   tile        a loop that is divided around the loop of the vectors: blocks outside, the elements of a block inside
//   tile_size   the elements of a block: a power of two
//   in_order    unit: rows are read in the order of memory, and the accumulators are a row in the first cache
//   jam         a parallel loop of which each step takes several elements
//   jam_size    the number of these
//   unrolled    short loops inside of the loop of the vectors
//   prefetch    the prefetch distance in bytes
#ifndef ARRAY_LIB_CPU_LOOPS_SCHEDULEATTR_H
#define ARRAY_LIB_CPU_LOOPS_SCHEDULEATTR_H

#include "LoopNest.h"

namespace mlir::array::loops {

inline constexpr StringLiteral kScheduleAttr = "array.schedule";

/// A schedule as an attribute.
DictionaryAttr toAttribute(MLIRContext *context, const IterationSpace &space, const LoopSchedule &schedule);

/// Sets the schedule of a nest: the one that its op has, or else the cheapest one. Emits an error if the op has one
/// that its loops do not allow.
LogicalResult takeSchedule(Nest &nest, const Machine &machine);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_SCHEDULEATTR_H

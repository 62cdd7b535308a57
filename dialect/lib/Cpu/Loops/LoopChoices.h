// Parts of the choice of a schedule (LoopSchedule.cpp). Private to this directory.
#ifndef ARRAY_LIB_CPU_LOOPS_LOOPCHOICES_H
#define ARRAY_LIB_CPU_LOOPS_LOOPCHOICES_H

#include "LoopNest.h"

namespace mlir::array::loops {

/// The bits of an element in a register; 0 for a mask.
int64_t widthOf(Type type);
bool isAtLeast(const SymbolicSize &size, int64_t least);

/// Jams the parallel dimension along which most inputs of the reduction do not move (LoopJam.cpp).
void chooseJam(linalg::LinalgOp op, const IterationSpace &space, int64_t registerBits, LoopSchedule &schedule);

/// Jams the rows of an op without a reduction that reads elements of a row for the next one, too.
void jamSharedRows(linalg::LinalgOp op, const IterationSpace &space, int64_t registerBits, LoopSchedule &schedule);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_LOOPCHOICES_H

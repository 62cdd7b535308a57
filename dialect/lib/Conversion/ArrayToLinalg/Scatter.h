// What the two forms of scatters share: loops over the updates (Scatter.cpp), and one op in which all of them may run
// at the same time (ParallelScatter.cpp).
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_SCATTER_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_SCATTER_H

#include "Lowering.h"

namespace mlir::array {

/// What an element becomes that an update meets. Stored bools are 0 and 1, in the order of unsigned numbers.
Value combined(ImplicitLocOpBuilder &b, StringRef kind, Type element, Value old, Value update);

/// Whether a dimension of the operand is one that the updates don't have: the window's size is 1 there.
bool isDropped(ScatterOp op, int64_t dim);

/// Whether a scatter has updates enough to be worth more than a thread.
bool isWorthThreads(ScatterOp op);

/// The scatter as one op (array/Analysis/ScatterForm.h), of operands in storage types.
Value parallelScatter(ImplicitLocOpBuilder &b, ScatterOp op, Value target, Value updates, ValueRange indices);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_SCATTER_H

// Shared declarations of the two forms of scatters: loops over the updates (Scatter.cpp), and one op with concurrent
// updates (ParallelScatter.cpp).
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_SCATTER_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_SCATTER_H

#include "Lowering.h"

namespace mlir::array {

/// The combination of an element and an update. Stored bools are 0 and 1, in unsigned order.
Value combined(ImplicitLocOpBuilder &b, StringRef kind, Type element, Value old, Value update);

/// Whether the updates lack this dimension of the operand: the window's size is 1 there.
bool isDropped(ScatterOp op, int64_t dim);

/// Whether a scatter has more updates than one thread should process.
bool isWorthThreads(ScatterOp op);

/// The scatter as one op (array/Analysis/ScatterForm.h), of operands in storage types.
Value parallelScatter(ImplicitLocOpBuilder &b, ScatterOp op, Value target, Value updates, ValueRange indices);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_SCATTER_H

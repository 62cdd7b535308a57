// Values that only a row fusion uses (RowFusion.h) take the memory of one row, because each row is finished before the
// next one begins. Threads that share the loop over the rows each need a separate row, in separate cache lines: if two
// threads store to one line in turn, it moves between cores with each row, which takes longer than a short row.
#ifndef ARRAY_LIB_CPU_LOOPS_ROWTEMPORARIES_H
#define ARRAY_LIB_CPU_LOOPS_ROWTEMPORARIES_H

#include "LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array::loops {

/// Finds the temporaries of nests that will share the loop over their rows (Access::isOneRow), and places the row of
/// each. A short row is on the stack of each thread, so that single elements are in registers. Otherwise each block of
/// rows has a row. Returns the buffers that the stack replaces.
SmallVector<Value> shareRows(OpBuilder &b, IndexBuilder &indices, MutableArrayRef<Nest> nests);

/// Erases a buffer that is not used any more, and its views.
void eraseWithViews(RewriterBase &rewriter, Value buffer);

/// An allocation that is reduced to a row for each block of rows.
struct RowsOfTemporary {
  memref::AllocOp alloc;
  std::optional<int64_t> bytes; // the number of bytes at its start that are used, if known
  SymbolicSize elements;        // else it becomes a buffer of this many elements
};

/// The temporaries of emitted nests, for at most this many blocks of rows.
SmallVector<RowsOfTemporary> findRows(ArrayRef<Nest> nests, int64_t blocks);

/// Sets the number of used bytes of a temporary. If that is known only at run time, or if the rows, each in separate
/// lines, need more than the temporary has, it is replaced by a flat buffer of enough elements.
void shrink(RewriterBase &rewriter, IndexBuilder &indices, const RowsOfTemporary &rows);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_ROWTEMPORARIES_H

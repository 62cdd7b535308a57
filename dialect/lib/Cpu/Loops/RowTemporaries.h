// Values that only a row fusion uses (RowFusion.h) take the memory of one row, as each row is done before the
// next one is begun. Threads that share the loop over the rows each need a row of their own, in cache lines of its own:
// where two threads store to one line in turn, it moves from core to core with each row, and that takes longer than a
// short row does.
#ifndef ARRAY_LIB_CPU_LOOPS_ROWTEMPORARIES_H
#define ARRAY_LIB_CPU_LOOPS_ROWTEMPORARIES_H

#include "LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array::loops {

/// Finds the temporaries of nests that are going to share the loop over their rows (Access::isOneRow), and decides
/// where the row of one is: on the stack of each thread where it is short, so that single elements are in registers;
/// else there is one for each block of rows. Returns the buffers that the stack takes the place of.
SmallVector<Value> shareRows(OpBuilder &b, IndexBuilder &indices, MutableArrayRef<Nest> nests);

/// An allocation of which a row for each block of rows is left.
struct RowsOfTemporary {
  memref::AllocOp alloc;
  std::optional<int64_t> bytes; // its first ones, which are all that is touched, where that is known
  SymbolicSize elements;        // else it becomes one of so many
};

/// Those of nests that were emitted, for so many blocks of rows at most.
SmallVector<RowsOfTemporary> findRows(ArrayRef<Nest> nests, int64_t blocks);

/// Says of a temporary how many bytes of it are touched; or replaces it by a flat one of as many elements, where only
/// sizes that are not known say that, or the rows, each in lines of its own, need more than it has.
void shrink(RewriterBase &rewriter, IndexBuilder &indices, const RowsOfTemporary &rows);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_ROWTEMPORARIES_H

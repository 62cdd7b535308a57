// Row fusions: neighbouring ops that walk the same rows become one loop over the rows, so that a row stays in the cache
// from one op to the next (softmax, normalization), and values that only the row fusion uses take the memory of one
// row. VectorizeLinalg.cpp collects them; LoopNest.cpp emits them.
#ifndef ARRAY_LIB_CPU_LOOPS_ROWFUSION_H
#define ARRAY_LIB_CPU_LOOPS_ROWFUSION_H

#include "LoopNest.h"

namespace mlir::array::loops {

class RowFusion {
public:
  RowFusion(const Machine &machine, bool marksKernels) : machine(machine), marksKernels(marksKernels) {}

  /// Adds `nest` if it fits: as many rows, some buffer in common, and what one member writes and another touches
  /// belongs to one row. A dense elementwise op is cut into rows for that; several of them, into blocks that stay in
  /// the cache.
  bool join(OpBuilder &b, IndexBuilder &indices, Nest nest);
  bool empty() const { return nests.empty(); }
  /// Emits the members at `b` and erases their ops.
  void emit(RewriterBase &rewriter, IndexBuilder &indices);

private:
  bool joinFlat(OpBuilder &b, IndexBuilder &indices, Nest &nest);

  Machine machine;
  bool marksKernels; ///< What is emitted stands in a region of its own (Kernels.h).
  SmallVector<Nest, 4> nests;
  int64_t block = 0; ///< Several nests of one dimension will be cut into blocks of so many elements.
};

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_ROWFUSION_H

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

  /// Adds `nest` if it fits: equal numbers of rows, a common buffer, and dependences between members only within one
  /// row. For this, a dense elementwise op is divided into rows; several of them, into blocks that stay in the cache.
  bool join(OpBuilder &b, IndexBuilder &indices, Nest nest);
  bool empty() const { return nests.empty(); }
  /// Emits the members at `b` and erases their ops.
  void emit(RewriterBase &rewriter, IndexBuilder &indices);

private:
  bool joinFlat(OpBuilder &b, IndexBuilder &indices, Nest &nest);

  Machine machine;
  bool marksKernels; ///< The emitted loops are in a separate region (Kernels.h).
  SmallVector<Nest, 4> nests;
  int64_t block = 0; ///< Several one-dimensional nests will be divided into blocks of this many elements.
};

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_ROWFUSION_H

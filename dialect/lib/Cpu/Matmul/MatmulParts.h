// Parts of a contraction on buffers: some rows, columns or terms of it, as separate operations.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULPARTS_H
#define ARRAY_LIB_CPU_MATMUL_MATMULPARTS_H

#include "Analysis/MatmulForm.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// The only loop over a matmul's rows (0), columns (1) or terms (2); none if there are several.
std::optional<unsigned> loopAlong(linalg::LinalgOp op, const MatmulForm &product, unsigned number);

/// The operation on [first, first + count) of a loop, with a fill of its result before it if there is one.
void emitPart(ImplicitLocOpBuilder &b, linalg::LinalgOp op, linalg::FillOp fill, unsigned loop, Value first,
              int64_t count);

/// Emits variants of the operation for each number of terms below `end`, the size of `loop`. Without terms nothing is
/// added.
void emitTerms(ImplicitLocOpBuilder &b, linalg::LinalgOp op, linalg::FillOp fill, unsigned loop,
               const BoundedSize &size, int64_t end);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULPARTS_H

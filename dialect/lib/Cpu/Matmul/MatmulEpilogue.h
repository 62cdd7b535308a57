// Epilogues of matmuls: elementwise operations on the result (bias, activation, residual). They compute in the matmul's
// memory. If the matmul has blocks of rows, they run on each block while it is in the cache.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULEPILOGUE_H
#define ARRAY_LIB_CPU_MATMUL_MATMULEPILOGUE_H

#include "Analysis/MatmulForm.h"
#include "MatmulKernels.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// The elementwise operation that alone reads the result of `product`, each element once; null if there is none.
linalg::GenericOp findEpilogue(linalg::LinalgOp product);

/// If an elementwise operation alone reads the result of `product`, with its dimensions in another order, makes the
/// matmul store this order, if `isGood` accepts the changed matmul.
void storeInOrderOfReader(linalg::GenericOp product, llvm::function_ref<bool()> isGood);

/// Whether `op` only copies.
bool isCopy(linalg::GenericOp op);

/// The elementwise operation that alone reads the result of `product` and computes in memory of the same layout. The
/// matmul then writes to that memory, and the operation changes it in place. Null if there is none.
linalg::GenericOp takeEpilogue(linalg::LinalgOp product);

/// Whether `epilogue` may run, element by element, at the position of `product`.
bool canMoveEpilogue(linalg::GenericOp epilogue, linalg::LinalgOp product);

/// Whether `epilogue` may run on blocks of rows and columns right after `product`, when `product` is emitted at its
/// position.
bool canBlockEpilogue(linalg::GenericOp epilogue, linalg::LinalgOp product);

/// An epilogue that tiles compute before they store: max(sum + addend, 0), or only one of the two steps.
struct TileEpilogue {
  OpOperand *addend = nullptr;
  bool rectifies = false;
};

/// Matches `epilogue` of the matmul in `sums` as one for tiles; none if it computes anything else.
std::optional<TileEpilogue> matchTileEpilogue(linalg::GenericOp epilogue, Value sums);

/// Computes `epilogue` for `rows` rows from `row` on, and `width` columns from `column` on.
void emitEpilogueBlock(ImplicitLocOpBuilder &b, linalg::GenericOp epilogue, Value row, Value rows, Value column,
                       Value width);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULEPILOGUE_H

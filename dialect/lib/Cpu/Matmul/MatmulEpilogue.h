// What follows a product element by element (bias, activation, residual): it is computed in the product's memory, and
// where the product is cut into blocks of rows, on each block while that is in the cache.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULEPILOGUE_H
#define ARRAY_LIB_CPU_MATMUL_MATMULEPILOGUE_H

#include "Analysis/MatmulForm.h"
#include "MatmulKernels.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// The elementwise operation that alone reads the result of `product`, each element once; null where there is none.
linalg::GenericOp findEpilogue(linalg::LinalgOp product);

/// Where an elementwise operation alone reads the result of `product`, with its dimensions in another order, lets the
/// product store them in that order, if `isGood` says so of the product as it then is.
void storeInOrderOfReader(linalg::GenericOp product, llvm::function_ref<bool()> isGood);

/// Whether `op` only copies.
bool isCopy(linalg::GenericOp op);

/// The elementwise operation that alone reads the result of `product` and computes in memory of the same layout. From
/// here on the product writes to that memory, and the operation changes it in place. Null where there is none.
linalg::GenericOp takeEpilogue(linalg::LinalgOp product);

/// Whether `epilogue` may be computed where `product` is, element by element.
bool canMoveEpilogue(linalg::GenericOp epilogue, linalg::LinalgOp product);

/// Whether `epilogue` may be computed on blocks of rows and columns right after `product`, by the time `product` is
/// emitted in its place.
bool canBlockEpilogue(linalg::GenericOp epilogue, linalg::LinalgOp product);

/// An epilogue that tiles compute before they store: max(sum + addend, 0), or one of the two alone.
struct TileEpilogue {
  OpOperand *addend = nullptr;
  bool rectifies = false;
};

/// Reads `epilogue`, which follows the product that is in `sums`, as one for tiles; none where it computes anything
/// else.
std::optional<TileEpilogue> matchTileEpilogue(linalg::GenericOp epilogue, Value sums);

/// Computes `epilogue` for `rows` rows from `row` on, and `width` columns from `column` on.
void emitEpilogueBlock(ImplicitLocOpBuilder &b, linalg::GenericOp epilogue, Value row, Value rows, Value column,
                       Value width);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULEPILOGUE_H

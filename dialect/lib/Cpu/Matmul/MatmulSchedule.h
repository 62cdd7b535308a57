// Chooses the method of a matmul for array-lower-matmuls, and its blocks.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULSCHEDULE_H
#define ARRAY_LIB_CPU_MATMUL_MATMULSCHEDULE_H

#include "Analysis/MatmulForm.h"
#include "Matmul.h"

namespace mlir::array {

/// The multiplication instructions of the target.
struct Registers {
  unsigned bits;
  bool bfloat16Dot2; ///< multiplies pairs of bf16
};

/// The methods of a matmul, by the functions of MatmulKernels.h.
enum class MatmulMethod { Loops, Tiles, Stream, Dot2 };

/// The schedule of a matmul.
struct MatmulSchedule {
  MatmulMethod method;
  MatmulTile tile;
  MatmulPacking packing;
  MatmulBlocks blocks;
  int64_t fewRows = 0;    ///< calls with at most this many rows are streamed instead of tiled
  bool packsLeft = false; ///< a is packed, unless a prologue computes it
};

/// Smaller numbers of rows, columns or terms use the loops, unless they are streamed.
inline constexpr int64_t kLeastTiled = 4;

/// The method of a matmul.
MatmulMethod chooseMethod(const MatmulForm &product, Type element, const Registers &registers);

/// Whether a matmul can be streamed: the layout of b allows it, and the factors of a row of a fit in registers.
bool canStream(const MatmulForm &product, Type element, unsigned vectorBits);

/// Whether the tiles that first read b's panels can copy them (MatmulPacking::Once): there is probably one block of
/// rows, each block makes its own copy, and a panel fits on the stack.
bool canCopyOnce(const MatmulForm &product, const MatmulBlocks &blocks);

/// The same for MatmulPacking::Turned. Transposing takes longer than a copy, so there is certainly one block of rows.
bool canTurnOnce(const MatmulForm &product, const MatmulTile &tile, const MatmulBlocks &blocks);

/// The form in which a contraction is scheduled. If its only reader has its dimensions in another order, the result
/// gets this order first, unless the matmul would become smaller.
FailureOr<MatmulForm> readScheduled(linalg::LinalgOp op, const Registers &registers);

/// The cost model's choice, overridden by the plan of the operation as far as the operands' layout allows.
MatmulSchedule chooseSchedule(linalg::LinalgOp op, const MatmulForm &product, Type element, const Registers &registers);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULSCHEDULE_H

// How array-lower-matmuls computes a product: the rule for what is worth which functions, and how that is cut.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULCUT_H
#define ARRAY_LIB_CPU_MATMUL_MATMULCUT_H

#include "Analysis/MatmulForm.h"
#include "Matmul.h"

namespace mlir::array {

/// What a machine multiplies with.
struct Registers {
  unsigned bits;
  bool bfloat16Dot2; ///< multiplies pairs of bf16
};

/// The ways to compute a product, by the functions of MatmulKernels.h.
enum class MatmulMethod { Loops, Tiles, Stream, Dot2 };

/// How a product is cut.
struct MatmulCut {
  MatmulMethod method;
  MatmulTile tile;
  MatmulPacking packing;
  MatmulBlocks blocks;
  int64_t fewRows = 0;    ///< up to which tiles give way to streaming, if the call has no more
  bool packsLeft = false; ///< a is packed, if nothing computes it on the way
};

/// Fewer rows, columns or terms are left to the loops where they are not streamed.
inline constexpr int64_t kLeastTiled = 4;

/// What is worth a call.
MatmulMethod chooseMethod(const MatmulForm &product, Type element, const Registers &registers);

/// Whether a product can be streamed at all: b lies that way, and the factors of a row of a have place in registers.
bool canStream(const MatmulForm &product, Type element, unsigned vectorBits);

/// Whether b's panels can be copied by the first tiles that read them: there is one block of rows most likely, each
/// block makes its own copy, and a panel has its place on the stack.
bool canCopyOnce(const MatmulForm &product, const MatmulBlocks &blocks);

/// By the cost model, but for what the plan of the operation says and the operands' layout allows.
MatmulCut chooseCut(linalg::LinalgOp op, const MatmulForm &product, Type element, const Registers &registers);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULCUT_H

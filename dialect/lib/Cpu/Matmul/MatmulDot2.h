// Products of bytes or bf16 with sums of 32 bits. Bytes are widened to 16 bits while they are packed, and two factors
// that follow each other along k share an element of 32 bits: one instruction multiplies both pairs and adds the two
// products. So the tiles are those of a product of i32, or f32, with half as many terms (MatmulKernels.h).
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULDOT2_H
#define ARRAY_LIB_CPU_MATMUL_MATMULDOT2_H

#include "MatmulKernels.h"

namespace mlir::array {

/// A factor as it is in memory.
struct Dot2Factor {
  Type element;    ///< i8 or bf16
  bool isSigned;   ///< if it is i8
  bool unitStride; ///< of the right one along n, of the left one along k
};

/// Elements of pairs for `k` terms; a last one alone is paired with zero.
inline int64_t dot2Elements(int64_t k) { return (k + 1) / 2; }

/// Whether making the pairs of a product is soon made up for.
bool isWorthDot2(int64_t m, int64_t n, int64_t k);

/// @matmul_dot2_left_*(a: m x k, pairs: m x dot2Elements(k), unit stride along k).
func::FuncOp getDot2Left(ModuleOp module, const Dot2Factor &factor, const MatmulTile &tile);

/// @matmul_dot2_right_*(b: k x n, panels of pairs).
func::FuncOp getDot2Right(ModuleOp module, const Dot2Factor &factor, const MatmulTile &tile);

/// sum + x * y for vectors of pairs. Of bytes, with 256 or 512 bits: exact, modulo 2^32. Of bf16, with 512: the
/// products are exact, the sum is rounded after each, and what is smaller than the smallest normal number counts as
/// zero.
Value emitDot2(ImplicitLocOpBuilder &b, Value x, Value y, Value sum);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULDOT2_H

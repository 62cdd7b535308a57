// Matmuls of bytes or bf16 with sums of 32 bits. Packing widens bytes to 16 bits, and stores two consecutive factors
// along k in one element of 32 bits. One instruction multiplies both pairs and adds the two products. So the tiles are
// those of a matmul of i32, or f32, with half as many terms (MatmulKernels.h).
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULDOT2_H
#define ARRAY_LIB_CPU_MATMUL_MATMULDOT2_H

#include "MatmulKernels.h"

namespace mlir::array {

/// A factor in memory.
struct Dot2Factor {
  Type element;    ///< i8 or bf16
  bool isSigned;   ///< if it is i8
  bool unitStride; ///< of the right factor along n, of the left one along k
};

/// The number of pairs for `k` terms; the last term of an odd number is paired with zero.
inline int64_t dot2Elements(int64_t k) { return (k + 1) / 2; }

/// Whether the gain from pairs exceeds the cost of making them.
bool isWorthDot2(int64_t m, int64_t n, int64_t k);

/// @matmul_dot2_left_*(a: m x k, pairs: m x dot2Elements(k), unit stride along k).
func::FuncOp getDot2Left(ModuleOp module, const Dot2Factor &factor, const MatmulTile &tile);

/// @matmul_dot2_right_*(b: k x n, panels of pairs).
func::FuncOp getDot2Right(ModuleOp module, const Dot2Factor &factor, const MatmulTile &tile);

/// sum + x * y for vectors of pairs. For bytes, with 256 or 512 bits: exact, modulo 2^32. For bf16, with 512 bits: the
/// products are exact, the sum is rounded after each, and values below the smallest normal number count as zero.
Value emitDot2(ImplicitLocOpBuilder &b, Value x, Value y, Value sum);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULDOT2_H

// Products of bytes with sums of 32 bits. Both factors are widened to 16 bits while they are packed, and two that
// follow each other along k share an element of 32 bits: one instruction multiplies both pairs and adds the two
// products. So the tiles are those of a product of i32 with half as many terms (GemmKernels.h).
#ifndef ARRAY_LIB_TRANSFORMS_GEMMPAIRS_H
#define ARRAY_LIB_TRANSFORMS_GEMMPAIRS_H

#include "GemmKernels.h"

namespace mlir::array {

/// A factor as it is in memory.
struct GemmBytes {
  Type element;
  bool isSigned;
  bool unitStride; ///< of the right one along n, of the left one along k
};

/// Elements of pairs for `k` terms; a last one alone is paired with zero.
inline int64_t pairsOf(int64_t k) { return (k + 1) / 2; }

/// @gemm_pair_left_*(a: m x k bytes, pairs: m x pairsOf(k), unit stride along k).
func::FuncOp getPairLeft(ModuleOp module, const GemmBytes &bytes, const GemmTile &tile);

/// @gemm_pair_right_*(b: k x n bytes, panels of pairs).
func::FuncOp getPairRight(ModuleOp module, const GemmBytes &bytes, const GemmTile &tile);

/// sum + x * y for vectors of pairs, of 256 or 512 bits: exact, modulo 2^32.
Value emitPairProduct(ImplicitLocOpBuilder &b, Value x, Value y, Value sum);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_GEMMPAIRS_H

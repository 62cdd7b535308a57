// The matrix product as functions of the module that is being compiled: built once for each element type, tile and
// layout of the right operand, with run-time sizes, so that ten products of one module cost one kernel.
// array-lower-contractions decides where to call them.
#ifndef ARRAY_LIB_TRANSFORMS_GEMM_H
#define ARRAY_LIB_TRANSFORMS_GEMM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::array {

/// The accumulators that one pass over k keeps in registers: `rows` times `vectors` vectors of `lanes` elements.
struct GemmTile {
  int64_t rows;
  int64_t vectors;
  int64_t lanes;

  int64_t columns() const { return vectors * lanes; }
};

/// How the right operand reaches the tile, which reads rows of `columns()` elements.
enum class GemmPacking {
  InPlace, ///< Read where it is: unit stride along n, n a multiple of the tile's columns.
  Rows,    ///< Copied to panels; unit stride along n.
  Columns, ///< Copied to panels; unit stride along k, at least gemmSquareSide: transposed in registers.
  Strided, ///< Copied to panels, element by element; any strides.
};

/// Sizes of the blocks: a panel of kc x columns stays in the first cache, a block of mc x kc of the left operand and
/// the packed kc x nc in the second.
struct GemmBlocking {
  static constexpr int64_t kc = 512;
  static constexpr int64_t mc = 128;
  static constexpr int64_t nc = 1024;
};

/// The tile for `vectorBits` wide registers and results with `columns` columns.
GemmTile chooseGemmTile(Type element, unsigned vectorBits, int64_t columns);

/// The side of the squares that GemmPacking::Columns transposes.
int64_t gemmSquareSide(const GemmTile &tile);

/// Elements that the packed block of a k x n operand takes; 0 where it is read in place.
int64_t gemmPackElements(const GemmTile &tile, GemmPacking packing, int64_t k, int64_t n);

/// The type of a matrix argument of the kernels: rows x columns, dynamic offset and row stride.
MemRefType gemmMatrixType(Type element, bool unitStride);

/// Returns the driver @gemm_*(a: m x k, b: k x n (Columns: n x k), c: m x n, pack: 1-D, accumulate: i1), building it
/// and what it calls where the module has none yet. It computes c = (accumulate ? c : 0) + a * b.
func::FuncOp getGemmFunction(ModuleOp module, Type element, const GemmTile &tile, GemmPacking packing);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_GEMM_H

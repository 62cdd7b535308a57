// The functions that a matmul calls. A module has one for each element type, tile and layout, with run-time sizes, so
// ten matmuls of one module share one kernel. Matmul.cpp calls them block by block.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULKERNELS_H
#define ARRAY_LIB_CPU_MATMUL_MATMULKERNELS_H

#include "Analysis/BoundedSize.h"
#include "Analysis/MatmulBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// The accumulators that one pass over k keeps in registers: `rows` times `vectors` vectors of `lanes` elements.
struct MatmulTile {
  int64_t rows;
  int64_t vectors;
  int64_t lanes;

  int64_t columns() const { return vectors * lanes; }
  /// The side of the smallest squares that are transposed for MatmulPacking::Columns. Deep panels have squares of whole
  /// vectors.
  int64_t squareSide() const { return std::min<int64_t>(lanes, 8); }
  /// The tile whose panels form a packed left operand: [tile][k][row].
  MatmulTile ofLeftPanels() const { return {rows, 1, rows}; }
};

/// Maximum number of terms that are summed in registers. It determines the order of a sum, so it is the same on every
/// machine. A panel of this many rows streams from the second cache.
inline constexpr int64_t kMatmulDepth = 512;

/// The packing of the right operand for the tile, which reads rows of `columns()` elements.
enum class MatmulPacking {
  InPlace, ///< Not copied: unit stride along n, n a multiple of the tile's columns.
  Once,    ///< Copied to the stack by the first tile; unit stride along n.
  Turned,  ///< Copied to the stack before the first tile, as Columns are.
  Rows,    ///< Copied to panels; unit stride along n.
  Columns, ///< Copied to panels; unit stride along k, at least `squareSide()` long: transposed in registers.
  Strided, ///< Copied to panels, element by element; any strides.
};

/// Whether panels are packed before the tiles read them.
inline bool makesPanels(MatmulPacking packing) {
  return packing != MatmulPacking::InPlace && packing != MatmulPacking::Once && packing != MatmulPacking::Turned;
}

/// Matrices as parameters of the functions: dynamic sizes, offset and row stride.
MemRefType matmulMatrixType(Type element, bool unitStride);

/// A panel in the tiles' layout, packed or in place: [k][column].
MemRefType matmulPanelType(Type element, const MatmulTile &tile);

/// Packed panels, [panel][k][column]: the rows of one panel follow each other.
MemRefType matmulPackedType(Type element, const MatmulTile &tile);

/// @matmul_tiles_*(a: m x k, panel, c: m x n, d: m x n, adds: i1, rectifies: i1): c = (adds ? d : 0) + a * panel, then
/// max(c, 0) if `rectifies`. d may be c, and n is at most the tile's columns. With `isDot2`, the elements of a and the
/// panel are pairs (MatmulDot2.h).
func::FuncOp getMatmulTiles(ModuleOp module, Type element, const MatmulTile &tile, bool isDot2 = false);

/// The type of a matrix of the next matmul for the functions that prefetch: elements at some distance, one for each
/// term of a tile.
MemRefType matmulAheadType(Type element);

/// @matmul_tiles_ahead_*(a, panel, c, d, adds, rectifies, next a, next b, next c): matmul_tiles; term k of tile t also
/// prefetches element (t * depth + k) of each of the last three.
func::FuncOp getMatmulTilesAhead(ModuleOp module, Type element, const MatmulTile &tile);

/// @matmul_tiles_packed_*(a's panels, panel, c, d, adds, rectifies): matmul_tiles for a packed a, in panels of the
/// tile's `ofLeftPanels()`.
func::FuncOp getMatmulTilesPacked(ModuleOp module, Type element, const MatmulTile &tile);

/// @matmul_tiles_once_*(a, b: k x n, c, d, adds, rectifies): matmul_tiles for a panel of b in place, with k of at most
/// kMatmulDepth. One call handles all rows, which are few.
func::FuncOp getMatmulTilesOnce(ModuleOp module, Type element, const MatmulTile &tile);

/// @matmul_tiles_turned_*(a, b: n x k, c, d, adds, rectifies): the same for a panel with unit stride along k, which has
/// at least `squareSide()` terms.
func::FuncOp getMatmulTilesTurned(ModuleOp module, Type element, const MatmulTile &tile);

/// Columns of b that are streamed at once with this many rows of a: rows of 16 KiB, whose sums stay in the first cache,
/// or fewer if the sums of all rows need the space, but enough for memory prefetching.
int64_t streamColumns(Type element, int64_t rows);

/// The maximum number of columns of a block: the last block has the rest, and blocks may be moved by half a page.
int64_t mostStreamColumns(Type element, int64_t rows);

/// @matmul_stream_*(a: tile.rows x k, b: k x n, c: tile.rows x n, accumulate: i1, isFar: i1): c = (accumulate ? c : 0)
/// + a * b. b has unit stride along n and is read once, row by row; n is at most mostStreamColumns. A b outside of all
/// caches (far) is prefetched. The tile has one vector.
func::FuncOp getMatmulStream(ModuleOp module, Type element, const MatmulTile &tile);

/// @matmul_pack_*(b: k x n, panels), for MatmulPacking::Columns (b: n x k, panels). `packing` makes panels.
func::FuncOp getMatmulPack(ModuleOp module, Type element, const MatmulTile &tile, MatmulPacking packing);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULKERNELS_H

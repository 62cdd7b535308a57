// The functions that a matrix product calls: built once a module for each element type, tile and layout, with run-time
// sizes, so that ten products of one module cost one kernel. Matmul.cpp calls them block by block.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULKERNELS_H
#define ARRAY_LIB_CPU_MATMUL_MATMULKERNELS_H

#include "Analysis/BoundedSize.h"
#include "Analysis/Caches.h"

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
  /// The side of the squares that are transposed for MatmulPacking::Columns. Squares of 8 take a third of the time of
  /// 16 to compile, and are transposed as fast as the second cache delivers.
  int64_t squareSide() const { return std::min<int64_t>(lanes, 8); }
  /// The tile whose panels are a packed left operand's: [tile][k][row].
  MatmulTile ofLeftPanels() const { return {rows, 1, rows}; }
};

/// Terms that are summed in registers. It decides on the order of a sum, so it is the same on every machine. A panel of
/// as many rows streams from the second cache.
inline constexpr int64_t kMatmulDepth = 512;

/// How the right operand reaches the tile, which reads rows of `columns()` elements.
enum class MatmulPacking {
  InPlace, ///< Read where it is: unit stride along n, n a multiple of the tile's columns.
  Once,    ///< Copied to the stack by the first tile; unit stride along n.
  Rows,    ///< Copied to panels; unit stride along n.
  Columns, ///< Copied to panels; unit stride along k, at least `squareSide()` long: transposed in registers.
  Strided, ///< Copied to panels, element by element; any strides.
};

/// Matrices as the functions take them: dynamic sizes, offset and row stride.
MemRefType matmulMatrixType(Type element, bool unitStride);

/// A panel as the tiles read it, packed or in place: [k][column].
MemRefType matmulPanelType(Type element, const MatmulTile &tile);

/// Packed panels, [panel][k][column]: the rows of one panel follow each other.
MemRefType matmulPackedType(Type element, const MatmulTile &tile);

/// @matmul_tiles_*(a: m x k, panel, c: m x n, d: m x n, adds: i1, rectifies: i1): c = (adds ? d : 0) + a * panel, and
/// the maximum of that and 0 where it rectifies. d may be c, and n is at most the tile's columns. With `isDot2` the
/// elements of a and the panel are pairs (MatmulDot2.h).
func::FuncOp getMatmulTiles(ModuleOp module, Type element, const MatmulTile &tile, bool isDot2 = false);

/// What the functions that fetch ahead take of the matrices that the next product reads and writes: elements at some
/// distance, one for each term of a tile.
MemRefType matmulAheadType(Type element);

/// @matmul_tiles_ahead_*(a, panel, c, d, adds, rectifies, next a, next b, next c): matmul_tiles, and term k of tile t
/// fetches element (t * depth + k) of each of the last three.
func::FuncOp getMatmulTilesAhead(ModuleOp module, Type element, const MatmulTile &tile);

/// @matmul_tiles_packed_*(a's panels, panel, c, d, adds, rectifies): matmul_tiles where a is packed as rows of the
/// tile's `ofLeftPanels()` are.
func::FuncOp getMatmulTilesPacked(ModuleOp module, Type element, const MatmulTile &tile);

/// @matmul_tiles_once_*(a, b: k x n, c, d, adds, rectifies): matmul_tiles for a panel of b in place, with k of at most
/// kMatmulDepth. For all rows that there are: they are few.
func::FuncOp getMatmulTilesOnce(ModuleOp module, Type element, const MatmulTile &tile);

/// Columns of b that are streamed at once with so many rows of a: rows of 16 KiB, whose sums stay in the first cache,
/// or as much of them as sums of all rows have room for, but long enough for the memory's prefetching.
int64_t streamColumns(Type element, int64_t rows);

/// Those that a function has room for: the last block has what is left, and the blocks may be moved by half a page.
int64_t mostStreamColumns(Type element, int64_t rows);

/// @matmul_stream_*(a: tile.rows x k, b: k x n, c: tile.rows x n, accumulate: i1, isFar: i1): c = (accumulate ? c : 0)
/// + a * b, for a b of unit stride along n that is read once, row by row, and n of at most mostStreamColumns. A b that
/// is far, in no cache, is fetched ahead. The tile has one vector.
func::FuncOp getMatmulStream(ModuleOp module, Type element, const MatmulTile &tile);

/// @matmul_pack_*(b: k x n, panels), for MatmulPacking::Columns (b: n x k, panels). `packing` is not InPlace.
func::FuncOp getMatmulPack(ModuleOp module, Type element, const MatmulTile &tile, MatmulPacking packing);

/// Short names for the index arithmetic and the loops that the functions and their callers emit.
struct MatmulBuilder {
  explicit MatmulBuilder(ImplicitLocOpBuilder &b) : b(b) {}

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value index(const BoundedSize &size) {
    if (size.isStatic())
      return index(size.factor());
    Value product = size.symbols().front();
    for (Value symbol : size.symbols().drop_front())
      product = arith::MulIOp::create(b, product, symbol);
    return size.factor() == 1 ? product : mul(product, size.factor());
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value sub(Value x, int64_t y) { return y == 0 ? x : sub(x, index(y)); }
  Value mul(Value x, int64_t y) { return arith::MulIOp::create(b, x, index(y)); }
  Value mul(Value x, const BoundedSize &y) { return arith::MulIOp::create(b, x, index(y)); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  /// x / y, rounded up, of numbers that are not negative.
  Value ceilDiv(Value x, int64_t y) { return arith::DivUIOp::create(b, add(x, y - 1), index(y)); }
  /// Elements of so many bytes from an address to the page that begins there or next.
  Value toPage(Value address, int64_t bytes) {
    Value rest = arith::AndIOp::create(b, sub(index(0), address), index(kPageBytes - 1));
    return arith::DivUIOp::create(b, rest, index(bytes));
  }
  /// x + position * stride.
  Value advance(Value x, Value position, const BoundedSize &stride) {
    return stride.isStatic(0) ? x : add(x, mul(position, stride));
  }

  /// A loop over [begin, end) whose body is built by `body(induction variable)`.
  scf::ForOp loop(Value begin, Value end, const BoundedSize &step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(b, begin, end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
    return loop;
  }

  ImplicitLocOpBuilder &b;
};

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULKERNELS_H

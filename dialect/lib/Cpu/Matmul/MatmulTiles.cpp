// Builds the functions that multiply rows with a panel (MatmulKernels.h), as scf, vector and memref operations:
//   @matmul_tiles_*        one tile of accumulators in registers at a time;
//   @matmul_tiles_ahead_*  and prefetch the operands and the result of the next matmul;
//   @matmul_tiles_packed_* with a packed left operand;
//   @matmul_tiles_once_*   with a panel in place that no later rows need: the first tile copies it;
//   @matmul_tiles_turned_* with such a panel of columns: it is transposed before the first tile.
// The left operand is read by scalar broadcasts: in place, with any strides, or packed. Rows beyond the last one are
// clamped to it: they compute and store the same values again. Columns beyond the last one are masked.
#include "MatmulDot2.h"
#include "MatmulKernel.h"

namespace mlir::array {

namespace {

class TileKernel : MatmulKernel {
public:
  TileKernel(ModuleOp module, StringRef kind, Type element, const MatmulTile &tile, bool isDot2 = false)
      : MatmulKernel(module, kind, element, tile, isDot2), isDot2(isDot2) {}

  func::FuncOp getTiles();
  func::FuncOp getTilesAhead();
  func::FuncOp getTilesPacked();
  func::FuncOp getTilesOnce();
  func::FuncOp getTilesTurned();

private:
  /// The parameters of all tile functions.
  enum Argument : unsigned { Left, Right, Result, Addend, Adds, Rectifies };
  Value argument(Argument which) { return function.getArgument(which); }
  SmallVector<Type> tileArguments(Type leftType, Type rightType) {
    Type matrix = matmulMatrixType(element, true);
    return {leftType, rightType, matrix, matrix, b.getI1Type(), b.getI1Type()};
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    return isDot2 ? emitDot2(b, x, y, sum) : vector::FMAOp::create(b, x, y, sum).getResult();
  }

  func::FuncOp endWithPanel();
  void emitTiles(Value first, Value panel, ArrayRef<Value> masks);
  void emitTile(Value i, bool isWhole, Value panel, ArrayRef<Value> masks, Value copy = {});
  Value rowsFrom(Value matrix, Value i);
  void readFlags();
  void prefetch(ArrayRef<Value> rows, ArrayRef<Value> columns);
  SmallVector<Value> initialSums(ArrayRef<Value> columns, ArrayRef<Value> masks);
  SmallVector<Value> addRows(ArrayRef<Value> rows, ArrayRef<Value> columns, ArrayRef<Value> masks,
                             ArrayRef<Value> sums);
  SmallVector<Value> rectify(Value rectifies, ArrayRef<Value> sums);
  SmallVector<Value> multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, Value panel, ArrayRef<Value> masks,
                              Value copy);
  Value loadOnce(Value panel, Value k, Value column, Value mask, Value copy);
  void prefetchDistance(Value k);

  bool isDot2;               ///< elements of the factors stand for pairs
  Value left, result;        ///< from the first row of a tile on
  Value addend;              ///< the same
  Value addsRow, addsRows;   ///< whether the addend has one row for all, or one for each
  Value leftTile;            ///< the number of a tile
  bool isLeftPacked = false; ///< the left operand is [tile][k][row]
  ValueRange ahead;          ///< a, b and c of the next matmul
  Value aheadOfTile;         ///< the number of elements that earlier tiles have prefetched
};

func::FuncOp TileKernel::getTiles() {
  if (isThere(tileArguments(matmulMatrixType(element, false), matmulPanelType(element, tile))))
    return function;
  return endWithPanel();
}

func::FuncOp TileKernel::getTilesAhead() {
  SmallVector<Type> arguments = tileArguments(matmulMatrixType(element, false), matmulPanelType(element, tile));
  size_t own = arguments.size();
  arguments.append(3, matmulAheadType(element));
  if (isThere(arguments))
    return function;
  ahead = function.getArguments().drop_front(own);
  return endWithPanel();
}

func::FuncOp TileKernel::getTilesPacked() {
  isLeftPacked = true;
  if (isThere(tileArguments(matmulPackedType(element, tile.ofLeftPanels()), matmulPanelType(element, tile))))
    return function;
  return endWithPanel();
}

/// The body for an existing panel.
func::FuncOp TileKernel::endWithPanel() {
  readFlags();
  SmallVector<Value> masks = columnMasks(dim(argument(Result), 1));
  emitTiles(g.index(0), argument(Right), masks);
  return end();
}

func::FuncOp TileKernel::getTilesOnce() {
  if (isThere(tileArguments(matmulMatrixType(element, false), matmulMatrixType(element, true))))
    return function;
  readFlags();
  SmallVector<Value> masks = columnMasks(dim(argument(Result), 1));
  auto type = MemRefType::get({kMatmulDepth, tile.columns()}, element);
  Value copy = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64)), zero = g.index(0);
  emitTile(zero, /*isWhole=*/false, argument(Right), masks, copy);
  emitTiles(g.index(tile.rows), copy, masks);
  return end();
}

func::FuncOp TileKernel::getTilesTurned() {
  if (isThere(tileArguments(matmulMatrixType(element, false), matmulMatrixType(element, true))))
    return function;
  readFlags();
  SmallVector<Value> masks = columnMasks(dim(argument(Result), 1));
  auto type = MemRefType::get({1, kMatmulDepth, tile.columns()}, element);
  Value copy = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64)), zero = g.index(0);
  transposePanel(argument(Right), zero, copy, zero);
  SmallVector<ReassociationIndices> dims{{0, 1}, {2}};
  emitTiles(zero, memref::CollapseShapeOp::create(b, copy, dims), masks);
  return end();
}

void TileKernel::readFlags() {
  Value adds = argument(Adds), stride = rowStrideOf(argument(Addend)), zero = g.index(0);
  addsRow = arith::AndIOp::create(b, adds, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stride, zero));
  addsRows = arith::AndIOp::create(b, adds, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stride, zero));
}

/// The tiles from row `first`, a multiple of the tile's, on. Rows that certainly exist are at a fixed distance from the
/// tile's first one: with little depth, computing their addresses takes as long as multiplying.
void TileKernel::emitTiles(Value first, Value panel, ArrayRef<Value> masks) {
  Value end = dim(argument(isLeftPacked ? Result : Left), 0), whole = first;
  if (isa<FloatType>(element)) {
    whole = arith::MaxSIOp::create(b, first, roundDown(end, tile.rows));
    g.loop(first, whole, tile.rows, [&](Value i) { emitTile(i, /*isWhole=*/true, panel, masks); });
  }
  g.loop(whole, end, tile.rows, [&](Value i) { emitTile(i, /*isWhole=*/false, panel, masks); });
}

/// A matrix from row `i` on.
Value TileKernel::rowsFrom(Value matrix, Value i) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{i, zero}, sizes{g.sub(dim(matrix, 0), i), dim(matrix, 1)}, strides{one, one};
  return memref::SubViewOp::create(b, matrix, offsets, sizes, strides);
}

/// The rows [i, i + tile.rows). The sums start at zero, and d is added to them at the end, after a prefetch. A tile
/// whose sums started with d would wait for its loads, for up to a third of the loop over k. If all rows of d are
/// equal, they are in the cache, and the sums start with them.
void TileKernel::emitTile(Value i, bool isWhole, Value panel, ArrayRef<Value> masks, Value copy) {
  left = isLeftPacked ? argument(Left) : rowsFrom(argument(Left), i);
  leftTile = isLeftPacked ? arith::DivUIOp::create(b, i, g.index(tile.rows)) : Value();
  result = rowsFrom(argument(Result), i);
  addend = rowsFrom(argument(Addend), i);
  Value lastRow = g.sub(dim(isLeftPacked ? result : left, 0), 1);
  SmallVector<Value> rows, columns;
  for (int64_t r = 0; r < tile.rows; ++r)
    rows.push_back(isWhole ? g.index(r) : g.min(g.index(r), lastRow));
  for (int64_t v = 0; v < tile.vectors; ++v)
    columns.push_back(g.index(v * tile.lanes));
  prefetch(rows, columns);
  if (!ahead.empty())
    aheadOfTile = arith::MulIOp::create(b, arith::DivUIOp::create(b, i, g.index(tile.rows)), dim(left, 1));
  SmallVector<Value> sums = multiply(rows, columns, panel, masks, copy);
  sums = rectify(argument(Rectifies), addRows(rows, columns, masks, sums));
  // Stores with a mask take longer.
  Value hasAll = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, dim(result, 1), g.index(tile.columns()));
  auto branch = scf::IfOp::create(b, hasAll, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool masked : {false, true}) {
    b.setInsertionPointToStart(masked ? branch.elseBlock() : branch.thenBlock());
    for (auto [r, row] : llvm::enumerate(rows))
      for (auto [v, column] : llvm::enumerate(columns)) {
        Value sum = sums[r * tile.vectors + v];
        if (masked)
          vector::MaskedStoreOp::create(b, result, ValueRange{row, column}, masks[v], sum);
        else
          vector::StoreOp::create(b, sum, result, ValueRange{row, column});
      }
  }
}

/// Prefetches the addend. Sums without an addend need no prefetch.
void TileKernel::prefetch(ArrayRef<Value> rows, ArrayRef<Value> columns) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, addsRows).thenBlock());
  for (Value row : rows)
    for (Value column : columns)
      memref::PrefetchOp::create(b, addend, ValueRange{row, column}, /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
}

/// The initial values of each row of sums.
SmallVector<Value> TileKernel::initialSums(ArrayRef<Value> columns, ArrayRef<Value> masks) {
  SmallVector<Type> types(columns.size(), vector);
  SmallVector<Value> zero(columns.size(), zeros()), row;
  auto branch = scf::IfOp::create(b, types, addsRow, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  for (auto [column, mask] : llvm::zip_equal(columns, masks))
    row.push_back(vector::MaskedLoadOp::create(b, vector, addend, ValueRange{g.index(0), column}, mask, zero.front()));
  scf::YieldOp::create(b, row);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, zero);
  return SmallVector<Value>(branch.getResults());
}

/// The sums, plus the rows of d if requested.
SmallVector<Value> TileKernel::addRows(ArrayRef<Value> rows, ArrayRef<Value> columns, ArrayRef<Value> masks,
                                       ArrayRef<Value> sums) {
  Value zero = zeros();
  auto branch = scf::IfOp::create(b, ValueRange(sums).getTypes(), addsRows, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> totals;
  for (Value row : rows)
    for (auto [column, mask] : llvm::zip_equal(columns, masks)) {
      Value more = vector::MaskedLoadOp::create(b, vector, addend, ValueRange{row, column}, mask, zero);
      Value sum = sums[totals.size()];
      totals.push_back(isa<FloatType>(element) ? Value(arith::AddFOp::create(b, sum, more))
                                               : Value(arith::AddIOp::create(b, sum, more)));
    }
  scf::YieldOp::create(b, totals);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(branch.getResults());
}

/// The sums, or max(sum, 0) if requested.
SmallVector<Value> TileKernel::rectify(Value rectifies, ArrayRef<Value> sums) {
  Value zero = zeros();
  auto branch = scf::IfOp::create(b, ValueRange(sums).getTypes(), rectifies, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> rectified;
  for (Value sum : sums) {
    if (!isa<FloatType>(element)) {
      rectified.push_back(arith::MaxSIOp::create(b, sum, zero));
      continue;
    }
    // One instruction of x86 that propagates NaN, and an addition that turns -0 into 0: units that do not multiply
    // execute both, in parallel with the next tile's terms.
    Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, zero, sum);
    Value least = arith::SelectOp::create(b, isBelow, zero, sum);
    rectified.push_back(arith::AddFOp::create(b, least, zero));
  }
  scf::YieldOp::create(b, rectified);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(branch.getResults());
}

/// A vector of a panel in place, which is also stored to `copy`. Its rows are far apart, so they need software
/// prefetching.
Value TileKernel::loadOnce(Value panel, Value k, Value column, Value mask, Value copy) {
  constexpr int64_t ahead = 32;
  memref::PrefetchOp::create(b, panel, ValueRange{g.add(k, ahead), column}, /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
  Value loaded = vector::MaskedLoadOp::create(b, vector, panel, ValueRange{k, column}, mask, zeros());
  vector::StoreOp::create(b, loaded, copy, ValueRange{k, column});
  return loaded;
}

/// One to three instructions beside each term's multiply-adds are free. All of them at once would take up to a tenth of
/// the matmul, and the first loads of the next matmul would still wait.
void TileKernel::prefetchDistance(Value k) {
  Value place = g.add(aheadOfTile, k);
  for (auto [number, matrix] : llvm::enumerate(ahead))
    memref::PrefetchOp::create(b, matrix, ValueRange(place), /*isWrite=*/number == 2, /*localityHint=*/3,
                               /*isDataCache=*/true);
}

/// The loop over k, with the accumulators as its values.
SmallVector<Value> TileKernel::multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, Value panel,
                                        ArrayRef<Value> masks, Value copy) {
  SmallVector<Value> row = initialSums(columns, masks), initial;
  for (size_t r = 0; r < rows.size(); ++r)
    llvm::append_range(initial, row);
  auto loop = scf::ForOp::create(b, g.index(0), dim(left, 1), g.index(1), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  if (!ahead.empty())
    prefetchDistance(k);
  SmallVector<Value> right;
  for (auto [column, mask] : llvm::zip_equal(columns, masks))
    right.push_back(copy ? loadOnce(panel, k, column, mask, copy)
                         : vector::LoadOp::create(b, vector, panel, ValueRange{k, column}).getResult());
  SmallVector<Value> sums;
  for (Value row : rows) {
    Value element = isLeftPacked ? memref::LoadOp::create(b, left, ValueRange{leftTile, k, row})
                                 : memref::LoadOp::create(b, left, ValueRange{row, k});
    Value spread = vector::BroadcastOp::create(b, vector, element);
    for (Value factor : right)
      sums.push_back(multiplyAdd(spread, factor, loop.getRegionIterArg(sums.size())));
  }
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(loop.getResults());
}

} // namespace

func::FuncOp getMatmulTiles(ModuleOp module, Type element, const MatmulTile &tile, bool isDot2) {
  return TileKernel(module, "matmul_tiles", element, tile, isDot2).getTiles();
}

func::FuncOp getMatmulTilesAhead(ModuleOp module, Type element, const MatmulTile &tile) {
  return TileKernel(module, "matmul_tiles_ahead", element, tile).getTilesAhead();
}

func::FuncOp getMatmulTilesPacked(ModuleOp module, Type element, const MatmulTile &tile) {
  return TileKernel(module, "matmul_tiles_packed", element, tile).getTilesPacked();
}

func::FuncOp getMatmulTilesOnce(ModuleOp module, Type element, const MatmulTile &tile) {
  return TileKernel(module, "matmul_tiles_once", element, tile).getTilesOnce();
}

func::FuncOp getMatmulTilesTurned(ModuleOp module, Type element, const MatmulTile &tile) {
  return TileKernel(module, "matmul_tiles_turned", element, tile).getTilesTurned();
}

} // namespace mlir::array

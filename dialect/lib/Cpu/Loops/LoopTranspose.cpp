// Copies blocks that are read across the vectors (LoopNest.h) to a scratch buffer, transposed. Whole blocks are
// transposed by squares in registers, at constant distances. Other blocks become a transpose op, which
// array-lower-transposes turns into a call of a shared function.
#include "LoopNest.h"
#include "TransposeFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array::loops {

int64_t transposeSide(Type element) { return element.isIndex() || element.getIntOrFloatBitWidth() > 32 ? 8 : 16; }

/// A whole block of constant sizes: squares in registers, inline.
static void emitWholeTile(OpBuilder &b, IndexBuilder &indices, Location loc, const TransposedTile &tile,
                          Value scratch) {
  Type element = cast<MemRefType>(tile.flat.getType()).getElementType();
  int64_t side = transposeSide(element);
  auto type = VectorType::get({side}, element);
  OpBuilder::InsertionGuard guard(b);
  auto loopTo = [&](int64_t end) {
    auto loop = scf::ForOp::create(b, loc, indices.index(b, 0), indices.index(b, end), indices.index(b, side));
    b.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  Value firstRow = loopTo(tile.rows), firstColumn = loopTo(tile.columns);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < side; ++i) {
    Value row = indices.add(b, loc, firstRow, indices.index(b, i));
    Value at = indices.add(b, loc, indices.advance(b, loc, tile.start, row, tile.rowStride), firstColumn);
    rows.push_back(vector::LoadOp::create(b, loc, type, tile.flat, at));
  }
  transposeSquare(b, loc, rows);
  Value at = indices.advance(b, loc, firstRow, firstColumn, SymbolicSize(tile.rows));
  for (int64_t i = 0; i < side; ++i)
    vector::StoreOp::create(b, loc, rows[i], scratch, indices.add(b, loc, at, indices.index(b, i * tile.rows)));
}

void emitTransposedTile(OpBuilder &b, IndexBuilder &indices, Location loc, const TransposedTile &tile, Value scratch) {
  if (!tile.lastRow && !tile.columnCount)
    return emitWholeTile(b, indices, loc, tile, scratch);
  Type element = cast<MemRefType>(tile.flat.getType()).getElementType();
  // The rows and columns that are there.
  Value rows = indices.index(b, tile.rows), columns = indices.index(b, tile.columns);
  if (tile.lastRow)
    rows = arith::MinUIOp::create(b, loc, indices.add(b, loc, tile.lastRow, indices.index(b, 1)), rows);
  if (tile.columnCount)
    columns = arith::MinUIOp::create(b, loc, tile.columnCount, columns);
  auto view = [&](Value buffer, Value offset, Value height, Value width, Value stride) -> Value {
    int64_t dynamic = ShapedType::kDynamic;
    auto type =
        MemRefType::get({dynamic, dynamic}, element, StridedLayoutAttr::get(b.getContext(), dynamic, {dynamic, 1}));
    SmallVector<OpFoldResult> sizes{height, width}, strides{stride, b.getIndexAttr(1)};
    return memref::ReinterpretCastOp::create(b, loc, type, buffer, OpFoldResult(offset), sizes, strides);
  };
  Value source = view(tile.flat, tile.start, rows, columns, indices.get(b, loc, tile.rowStride));
  Value target = view(scratch, indices.index(b, 0), columns, rows, indices.index(b, tile.rows));
  linalg::TransposeOp::create(b, loc, source, target, ArrayRef<int64_t>{1, 0});
}

} // namespace mlir::array::loops

// Transposes blocks of a buffer in vector registers (LinalgToLoopsNest.h): squares of side n are read as n rows,
// exchanged in log2(n) rounds of two-operand shuffles, and written as n columns.
#include "LinalgToLoopsNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

int64_t transposeSide(Type element) { return element.isIndex() || element.getIntOrFloatBitWidth() > 32 ? 8 : 16; }

/// In the round of distance d, rows i and i + d (where i has no bit d) exchange the off-diagonal blocks of size d.
static void transposeSquare(OpBuilder &b, Location loc, SmallVectorImpl<Value> &rows) {
  int64_t side = rows.size();
  for (int64_t distance = side / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < side; ++lane) {
      bool high = lane & distance;
      upper.push_back(high ? side + lane - distance : lane);
      lower.push_back(high ? side + lane : lane + distance);
    }
    for (int64_t i = 0; i < side; ++i) {
      if (i & distance)
        continue;
      Value top = rows[i], bottom = rows[i + distance];
      rows[i] = vector::ShuffleOp::create(b, loc, top, bottom, upper);
      rows[i + distance] = vector::ShuffleOp::create(b, loc, top, bottom, lower);
    }
  }
}

void emitTransposedTile(OpBuilder &b, IndexBuilder &indices, Location loc, const TransposedTile &tile, Value scratch) {
  Type element = cast<MemRefType>(tile.flat.getType()).getElementType();
  int64_t side = transposeSide(element);
  auto type = VectorType::get({side}, element);
  OpBuilder::InsertionGuard guard(b);
  auto loopTo = [&](int64_t end) {
    auto loop = scf::ForOp::create(b, loc, indices.index(b, 0), indices.index(b, end), indices.index(b, side));
    b.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  Value firstRow = loopTo(tile.rows), firstColumn = loopTo(tile.columns), mask;
  if (tile.columnCount) {
    Value rest = arith::SubIOp::create(b, loc, tile.columnCount, firstColumn);
    mask = indices.firstLanes(b, loc, side, arith::MinSIOp::create(b, loc, rest, indices.index(b, side)));
  }
  SmallVector<Value> rows;
  for (int64_t i = 0; i < side; ++i) {
    Value row = indices.add(b, loc, firstRow, indices.index(b, i));
    if (tile.lastRow)
      row = arith::MinUIOp::create(b, loc, row, tile.lastRow);
    Value at = indices.add(b, loc, indices.advance(b, loc, tile.start, row, tile.rowStride), firstColumn);
    if (mask)
      rows.push_back(vector::MaskedLoadOp::create(b, loc, type, tile.flat, at, mask,
                                                  indices.constant(b, cast<TypedAttr>(b.getZeroAttr(type)))));
    else
      rows.push_back(vector::LoadOp::create(b, loc, type, tile.flat, at));
  }
  transposeSquare(b, loc, rows);
  Value at = indices.advance(b, loc, firstRow, firstColumn, Extent(tile.rows));
  for (int64_t i = 0; i < side; ++i)
    vector::StoreOp::create(b, loc, rows[i], scratch, indices.add(b, loc, at, indices.index(b, i * tile.rows)));
}

} // namespace mlir::array::loops

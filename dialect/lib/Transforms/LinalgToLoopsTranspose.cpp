// Blocks of a buffer that are read across (LinalgToLoopsNest.h): a transpose to a scratch buffer, which
// array-lower-transposes turns into a call of a function that all of them share.
#include "LinalgToLoopsNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array::loops {

int64_t transposeSide(Type element) { return element.isIndex() || element.getIntOrFloatBitWidth() > 32 ? 8 : 16; }

void emitTransposedTile(OpBuilder &b, IndexBuilder &indices, Location loc, const TransposedTile &tile, Value scratch) {
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

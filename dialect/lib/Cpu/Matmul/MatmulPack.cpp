// Builds @matmul_pack_* (MatmulKernels.h), which copy a k x n block of the right operand to panels [n /
// columns][k][columns].
#include "MatmulKernel.h"

namespace mlir::array {

namespace {

class PackKernel : MatmulKernel {
public:
  PackKernel(ModuleOp module, StringRef kind, Type element, const MatmulTile &tile)
      : MatmulKernel(module, kind, element, tile) {}

  func::FuncOp getPackRows();
  func::FuncOp getPackColumns();
  func::FuncOp getPackStrided();

private:
  void transpose(MutableArrayRef<Value> rows);
};

/// Rows that are packed together, panel after panel. Their pages fit the translation cache, and panels whose lines
/// share sets fit the first cache.
constexpr int64_t kPackedDepth = 32;

/// Copies rows; the columns beyond n become zeros.
func::FuncOp PackKernel::getPackRows() {
  if (isThere({matmulMatrixType(element, true), matmulPackedType(element, tile)}))
    return function;
  Value source = function.getArgument(0), panels = function.getArgument(1), zero = g.index(0), depths = dim(source, 0);
  g.loop(zero, depths, kPackedDepth, [&](Value depth) {
    Value last = g.min(g.add(depth, kPackedDepth), depths);
    g.loop(zero, dim(panels, 0), 1, [&](Value panel) {
      Value column = g.mul(panel, tile.columns());
      SmallVector<Value> masks = columnMasks(g.sub(dim(source, 1), column));
      g.loop(depth, last, 1, [&](Value k) {
        for (auto [v, mask] : llvm::enumerate(masks)) {
          SmallVector<Value> at{k, g.add(column, v * tile.lanes)};
          Value row = vector::MaskedLoadOp::create(b, vector, source, at, mask, zeros());
          vector::StoreOp::create(b, row, panels, ValueRange{panel, k, g.index(v * tile.lanes)});
        }
      });
    });
  });
  return end();
}

/// Copies element by element; columns beyond n repeat the last one.
func::FuncOp PackKernel::getPackStrided() {
  if (isThere({matmulMatrixType(element, false), matmulPackedType(element, tile)}))
    return function;
  Value source = function.getArgument(0), panels = function.getArgument(1), zero = g.index(0);
  Value last = g.sub(dim(source, 1), 1);
  g.loop(zero, dim(panels, 0), 1, [&](Value panel) {
    Value column = g.mul(panel, tile.columns());
    g.loop(zero, dim(source, 0), 1, [&](Value k) {
      g.loop(zero, g.index(tile.columns()), 1, [&](Value j) {
        Value value = memref::LoadOp::create(b, source, ValueRange{k, g.min(g.add(column, j), last)});
        memref::StoreOp::create(b, value, panels, ValueRange{panel, k, j});
      });
    });
  });
  return end();
}

/// Transposes squares in registers. The last square starts early enough to be whole. Columns beyond n repeat the last
/// one.
func::FuncOp PackKernel::getPackColumns() {
  if (isThere({matmulMatrixType(element, true), matmulPackedType(element, tile)}))
    return function;
  Value source = function.getArgument(0), panels = function.getArgument(1), zero = g.index(0);
  int64_t side = tile.squareSide();
  Value depths = dim(source, 1), lastColumn = g.sub(dim(source, 0), 1), lastSquare = g.sub(depths, side);
  auto type = VectorType::get({side}, element);
  g.loop(zero, dim(panels, 0), 1, [&](Value panel) {
    g.loop(zero, g.index(tile.columns()), side, [&](Value column) {
      Value first = g.add(g.mul(panel, tile.columns()), column);
      SmallVector<Value> columns;
      for (int64_t lane = 0; lane < side; ++lane)
        columns.push_back(g.min(g.add(first, lane), lastColumn));
      g.loop(zero, depths, side, [&](Value position) {
        Value depth = g.min(position, lastSquare);
        SmallVector<Value> square;
        for (Value from : columns)
          square.push_back(vector::LoadOp::create(b, type, source, ValueRange{from, depth}));
        transpose(square);
        for (auto [lane, row] : llvm::enumerate(square))
          vector::StoreOp::create(b, row, panels, ValueRange{panel, g.add(depth, lane), column});
      });
    });
  });
  return end();
}

/// Swaps the off-diagonal halves of blocks of 2, 4, 8, ... elements.
void PackKernel::transpose(MutableArrayRef<Value> rows) {
  int64_t size = rows.size();
  for (int64_t half = 1; half < size; half *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t column = 0; column < size; ++column) {
      low.push_back((column & half) == 0 ? column : size + column - half);
      high.push_back((column & half) == 0 ? column + half : size + column);
    }
    for (int64_t row = 0; row < size; ++row) {
      if ((row & half) != 0)
        continue;
      Value first = rows[row], second = rows[row + half];
      rows[row] = vector::ShuffleOp::create(b, first, second, low);
      rows[row + half] = vector::ShuffleOp::create(b, first, second, high);
    }
  }
}

} // namespace

func::FuncOp getMatmulPack(ModuleOp module, Type element, const MatmulTile &tile, MatmulPacking packing) {
  switch (packing) {
  case MatmulPacking::InPlace:
  case MatmulPacking::Once:
    break;
  case MatmulPacking::Rows:
    return PackKernel(module, "matmul_pack_rows", element, tile).getPackRows();
  case MatmulPacking::Columns:
    return PackKernel(module, "matmul_pack_columns", element, tile).getPackColumns();
  case MatmulPacking::Strided:
    return PackKernel(module, "matmul_pack_strided", element, tile).getPackStrided();
  }
  llvm_unreachable("an operand that is read in place is not packed");
}

} // namespace mlir::array

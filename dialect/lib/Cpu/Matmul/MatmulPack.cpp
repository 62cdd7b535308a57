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

func::FuncOp PackKernel::getPackColumns() {
  if (isThere({matmulMatrixType(element, true), matmulPackedType(element, tile)}))
    return function;
  Value source = function.getArgument(0), panels = function.getArgument(1);
  g.loop(g.index(0), dim(panels, 0), 1,
         [&](Value panel) { transposePanel(source, g.mul(panel, tile.columns()), panels, panel); });
  return end();
}

} // namespace

func::FuncOp getMatmulPack(ModuleOp module, Type element, const MatmulTile &tile, MatmulPacking packing) {
  switch (packing) {
  case MatmulPacking::InPlace:
  case MatmulPacking::Once:
  case MatmulPacking::Turned:
    break;
  case MatmulPacking::Rows:
    return PackKernel(module, "matmul_pack_rows", element, tile).getPackRows();
  case MatmulPacking::Columns:
    return PackKernel(module, "matmul_pack_columns", element, tile).getPackColumns();
  case MatmulPacking::Strided:
    return PackKernel(module, "matmul_pack_strided", element, tile).getPackStrided();
  }
  llvm_unreachable("no panels are packed before the tiles");
}

} // namespace mlir::array

// Shared parts of the emission of matmul functions (MatmulKernels.h): the function of a module, masks of columns, and
// short names.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULKERNEL_H
#define ARRAY_LIB_CPU_MATMUL_MATMULKERNEL_H

#include "Entry/SharedFunctions.h"
#include "MatmulKernels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

/// A function of the module, and the emission of its body.
class MatmulKernel {
protected:
  MatmulKernel(ModuleOp module, StringRef kind, Type element, const MatmulTile &tile, bool isDot2 = false)
      : element(element), tile(tile), b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody())), g(b),
        vector(VectorType::get({tile.lanes}, element)) {
    name = (kind +
            (element.isF64()    ? "_f64_"
             : !element.isF32() ? "_dot2_"
             : isDot2           ? "_bf16_"
                                : "_f32_") +
            Twine(tile.rows) + "x" + Twine(tile.columns()))
               .str();
    function = module.lookupSymbol<func::FuncOp>(name);
  }

  /// Whether the function exists already: in the module, or compiled by the build.
  bool isThere(TypeRange arguments) {
    if (!function)
      function = addSharedFunction(b, name, arguments);
    return function.isExternal() || !function.getBody().front().empty();
  }
  func::FuncOp end() {
    func::ReturnOp::create(b);
    return function;
  }

  Value dim(Value memref, int64_t dimension) { return memref::DimOp::create(b, memref, dimension); }
  Value rowStrideOf(Value matrix) { return memref::ExtractStridedMetadataOp::create(b, matrix).getStrides()[0]; }
  Value roundDown(Value x, int64_t unit) { return g.mul(arith::DivUIOp::create(b, x, g.index(unit)), unit); }
  Value zeros() { return arith::ConstantOp::create(b, vector, b.getZeroAttr(vector)); }

  /// Masks of a row's vectors when `remaining` columns are left.
  SmallVector<Value> columnMasks(Value remaining) {
    SmallVector<Value> masks;
    for (int64_t v = 0; v < tile.vectors; ++v)
      masks.push_back(vector::CreateMaskOp::create(b, vector.clone(b.getI1Type()), g.sub(remaining, v * tile.lanes)));
    return masks;
  }

  /// Copies the columns from `first` on of a matrix with unit stride along them, n x k, to a panel: squares are
  /// transposed in registers, of whole vectors if k allows it: they take half the shuffles of squares of 8.
  void transposePanel(Value source, Value first, Value panels, Value panel) {
    int64_t least = tile.squareSide();
    if (least == tile.lanes)
      return transposeSquares(source, first, panels, panel, least);
    Value isDeep = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, dim(source, 1), g.index(tile.lanes));
    auto branch = scf::IfOp::create(b, isDeep, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    transposeSquares(source, first, panels, panel, tile.lanes);
    b.setInsertionPointToStart(branch.elseBlock());
    transposeSquares(source, first, panels, panel, least);
  }

  /// The last square starts early enough to be whole. Columns beyond n repeat the last one.
  void transposeSquares(Value source, Value first, Value panels, Value panel, int64_t side) {
    Value depths = dim(source, 1), lastColumn = g.sub(dim(source, 0), 1), lastSquare = g.sub(depths, side);
    auto type = VectorType::get({side}, element);
    g.loop(g.index(0), g.index(tile.columns()), side, [&](Value column) {
      SmallVector<Value> columns;
      for (int64_t lane = 0; lane < side; ++lane)
        columns.push_back(g.min(g.add(g.add(first, column), lane), lastColumn));
      g.loop(g.index(0), depths, side, [&](Value position) {
        Value depth = g.min(position, lastSquare);
        SmallVector<Value> square;
        for (Value from : columns)
          square.push_back(vector::LoadOp::create(b, type, source, ValueRange{from, depth}));
        transpose(square);
        for (auto [lane, row] : llvm::enumerate(square))
          vector::StoreOp::create(b, row, panels, ValueRange{panel, g.add(depth, lane), column});
      });
    });
  }

  /// Swaps the off-diagonal halves of blocks of 2, 4, 8, ... elements.
  void transpose(MutableArrayRef<Value> rows) {
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

  Type element;
  MatmulTile tile;
  ImplicitLocOpBuilder b;
  MatmulBuilder g;
  VectorType vector;
  std::string name;
  func::FuncOp function;
};

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULKERNEL_H

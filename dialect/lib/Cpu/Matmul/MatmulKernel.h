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

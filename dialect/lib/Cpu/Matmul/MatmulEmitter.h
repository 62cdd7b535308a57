// Shared parts of the emission of tiled and streamed matmuls: views of the matrices, and calls of the functions of
// MatmulKernels.h. Private to this directory.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULEMITTER_H
#define ARRAY_LIB_CPU_MATMUL_MATMULEMITTER_H

#include "Matmul.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

class MatmulEmitter {
protected:
  MatmulEmitter(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call)
      : g(b), b(b), call(call), module(module) {}

  /// Calls the function with this number; if there is only one function, calls it directly.
  void callOne(ArrayRef<func::FuncOp> functions, Value number, ValueRange operands) {
    if (functions.size() == 1) {
      func::CallOp::create(b, functions.front(), operands);
      return;
    }
    SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(0, functions.size() - 1));
    auto choice = scf::IndexSwitchOp::create(b, TypeRange(), number, cases, cases.size());
    OpBuilder::InsertionGuard guard(b);
    for (auto [region, function] : llvm::zip_equal(choice->getRegions(), rotated(functions))) {
      b.createBlock(&region);
      func::CallOp::create(b, function, operands);
      scf::YieldOp::create(b);
    }
  }

  /// Moves the last function, the default of the switch, to the front.
  static SmallVector<func::FuncOp> rotated(ArrayRef<func::FuncOp> functions) {
    SmallVector<func::FuncOp> result{functions.back()};
    llvm::append_range(result, functions.drop_back());
    return result;
  }

  Value truth(bool value) { return arith::ConstantIntOp::create(b, value, 1); }

  Value position(const MatmulMatrix &matrix, Value row, Value column) {
    return g.advance(g.advance(matrix.offset, row, matrix.rowStride), column, matrix.columnStride);
  }

  Value view(const MatmulMatrix &matrix, Value row, Value column, Value height, Value width, bool unitStride,
             Type element = {}) {
    SmallVector<OpFoldResult> sizes{height, width}, strides{g.index(matrix.rowStride)};
    strides.push_back(unitStride ? OpFoldResult(b.getIndexAttr(1)) : OpFoldResult(g.index(matrix.columnStride)));
    return memref::ReinterpretCastOp::create(b, matmulMatrixType(element ? element : call.element, unitStride),
                                             matrix.buffer, OpFoldResult(position(matrix, row, column)), sizes,
                                             strides);
  }

  MatmulBuilder g;
  ImplicitLocOpBuilder &b;
  const MatmulCall &call;
  ModuleOp module;
};

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULEMITTER_H

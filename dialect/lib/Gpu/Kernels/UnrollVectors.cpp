// Unrolls operations that make vectors of several dimensions (UnrollVectors.h): the canonicalizer creates them from
// insertions.
#include "UnrollVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

void unrollFromElements(Operation *root) {
  root->walk([](vector::FromElementsOp op) {
    VectorType type = op.getType();
    if (type.getRank() < 2)
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    int64_t width = type.getShape().back();
    auto row = VectorType::get({width}, type.getElementType());
    Value whole = arith::ConstantOp::create(b, b.getZeroAttr(type));
    for (int64_t first = 0; first < type.getNumElements(); first += width) {
      SmallVector<int64_t> position;
      for (int64_t number = first / width, dim = type.getRank() - 2; dim >= 0; --dim) {
        position.insert(position.begin(), number % type.getDimSize(dim));
        number /= type.getDimSize(dim);
      }
      Value elements = vector::FromElementsOp::create(b, row, op.getElements().slice(first, width));
      whole = vector::InsertOp::create(b, elements, whole, position);
    }
    op.replaceAllUsesWith(whole);
    op.erase();
  });
}

} // namespace mlir::array

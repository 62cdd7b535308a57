// Checks the operations between a matmul and its epilogue (GpuMatmulEpilogue.h).
#include "GpuMatmulEpilogue.h"
#include "Analysis/BufferUses.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::array {

static bool hasOwnMemory(Value buffer) { return isMemoryOfItsOwn(viewedBuffer(buffer)); }

bool canFuse(linalg::LinalgOp product, linalg::GenericOp epilogue) {
  Value result = epilogue.getDpsInits().front(), sums = product.getDpsInits().front();
  auto hasIndicesOrRegions = [](Operation &op) { return isa<linalg::IndexOp>(op) || op.getNumRegions() > 0; };
  if (llvm::any_of(*epilogue.getBody(), hasIndicesOrRegions) || !hasOwnMemory(result))
    return false;
  for (Value input : product.getDpsInputs()) {
    Value buffer = viewedBuffer(input);
    if (!hasOwnMemory(input) || buffer == viewedBuffer(result))
      return false;
    for (Operation *op = product->getNextNode(); op != epilogue; op = op->getNextNode())
      if (mayWriteMemory(op, buffer))
        return false;
  }
  // The epilogue may read memory that it writes if it is the same element.
  AffineMap written = epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(0));
  return llvm::all_of(epilogue.getDpsInputOperands(), [&](OpOperand *input) {
    Value value = input->get();
    if (value == sums || !isa<MemRefType>(value.getType()))
      return true;
    return hasOwnMemory(value) && (viewedBuffer(value) != viewedBuffer(result) ||
                                   (value == result && epilogue.getMatchingIndexingMap(input) == written));
  });
}

void eraseWithEpilogue(linalg::LinalgOp product, linalg::GenericOp epilogue) {
  Value sums = product.getDpsInits().front();
  epilogue.erase();
  for (Operation *user : llvm::make_early_inc_range(sums.getUsers())) // the matmul and fills
    user->erase();
  sums.getDefiningOp()->erase();
}

} // namespace mlir::array

// Telling what the device can do of it, and launches of one thread.
#include "HostAccesses.h"
#include "array/Gpu/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::array {

bool isMovable(Operation *op) {
  return isa<memref::LoadOp>(op) || (op->getNumRegions() == 0 && isMemoryEffectFree(op));
}

bool dependsOnLoad(Value value) {
  Operation *source = value.getDefiningOp();
  if (!source || !isMovable(source))
    return false;
  return isa<memref::LoadOp>(source) || llvm::any_of(source->getOperands(), dependsOnLoad);
}

gpu::LaunchOp launchThread(ImplicitLocOpBuilder &b, StringRef name,
                           llvm::function_ref<void(ImplicitLocOpBuilder &)> emit) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto launch = gpu::LaunchOp::create(b, one, one, one, one, one, one);
  launch->setAttr(kLaunchNameAttr, b.getStringAttr(name));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&launch.getBody().front());
  emit(b);
  gpu::TerminatorOp::create(b);
  return launch;
}

} // namespace mlir::array

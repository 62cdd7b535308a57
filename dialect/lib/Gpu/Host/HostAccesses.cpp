// Decides which operations the device can execute, and makes launches of one thread.
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
  // Each operation is visited once, even if it is reached by several paths.
  SetVector<Operation *> sources;
  auto add = [&](Value next) {
    if (Operation *source = next.getDefiningOp(); source && isMovable(source))
      sources.insert(source);
  };
  add(value);
  for (size_t next = 0; next < sources.size(); ++next) {
    if (isa<memref::LoadOp>(sources[next]))
      return true;
    llvm::for_each(sources[next]->getOperands(), add);
  }
  return false;
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

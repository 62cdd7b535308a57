// array-launch-stores: stores of @main move to kernels, because the memory is the device's. Runs after
// array-map-to-gpu; array-predicate-launches and array-sink-loads follow.
#include "HostAccesses.h"
#include "array/Gpu/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::array {

#define GEN_PASS_DEF_LAUNCHSTORES
#include "array/Gpu/Passes.h.inc"

namespace {

/// Whether only the host can execute the op: a launch, a call, an allocation, or the count of a run's operations.
bool isHostOnly(Operation *op) {
  return isa<gpu::LaunchOp, RuntimeCallOp, SpendOp, CallOpInterface, memref::AllocOp, memref::DeallocOp>(op);
}

/// Whether an op writes memory, and a thread of the device can execute all of it.
bool isWriter(Operation *op) {
  bool writes = false;
  WalkResult walked = op->walk([&](Operation *inner) {
    writes |= isa<memref::StoreOp, memref::CopyOp>(inner) || hasEffect<MemoryEffects::Write>(inner);
    return isHostOnly(inner) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return writes && !walked.wasInterrupted() && !op->hasTrait<OpTrait::IsTerminator>();
}

/// Makes launches of the stores of a block, and of stores inside its other operations.
class WriterGrouping {
public:
  void run(Block &block) {
    SmallVector<Operation *> group;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      bool joins = isWriter(&op) || isMovable(&op);
      if (joins)
        group.push_back(&op);
      if (!joins || &op == &block.back()) {
        split(group);
        group.clear();
      }
    }
    for (Operation &op : block)
      if (!isa<gpu::LaunchOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            run(inner);
  }

private:
  /// A launch returns no values. So if a later op uses a value of the group, the group ends before that value.
  void split(ArrayRef<Operation *> group) {
    SmallVector<Operation *> part;
    for (Operation *op : group) {
      auto isOutside = [&](Operation *user) {
        return !llvm::is_contained(group, op->getBlock()->findAncestorOpInBlock(*user));
      };
      if (!isMemoryEffectFree(op) && llvm::any_of(op->getUsers(), isOutside)) {
        launch(part);
        part.clear();
      } else {
        part.push_back(op);
      }
    }
    launch(part);
  }

  /// Launches the operations from the first store to the last one in the same thread.
  static void launch(ArrayRef<Operation *> part) {
    part = part.drop_until([](Operation *op) { return isWriter(op); });
    while (!part.empty() && !isWriter(part.back()))
      part = part.drop_back();
    if (part.empty())
      return;
    ImplicitLocOpBuilder b(part.back()->getLoc(), part.back());
    launchThread(b, "store", [&](ImplicitLocOpBuilder &body) {
      IRMapping copies;
      for (Operation *op : part)
        body.clone(*op, copies);
    });
    for (Operation *op : llvm::reverse(part))
      if (op->use_empty())
        op->erase();
  }
};

struct LaunchStores : impl::LaunchStoresBase<LaunchStores> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      WriterGrouping().run(getOperation().getBody().front());
  }
};

} // namespace
} // namespace mlir::array

// The pass array-schedule-loops: writes the schedule that the cost model chooses for each linalg op on buffers as its
// array.schedule (ScheduleAttr.h), to be read, tested and changed. array-vectorize-linalg makes the same loops without
// it.
#include "ScheduleAttr.h"
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace mlir::array {
#define GEN_PASS_DEF_SCHEDULELOOPS
#include "array/Cpu/Passes.h.inc"

namespace {

struct ScheduleLoops : impl::ScheduleLoopsBase<ScheduleLoops> {
  using ScheduleLoopsBase::ScheduleLoopsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    SmallVector<linalg::LinalgOp> ops;
    func.walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && !llvm::is_contained(op.getStaticLoopRanges(), 0))
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops)
      if (failed(schedule(func, op)))
        return signalPassFailure();
  }

  LogicalResult schedule(func::FuncOp func, linalg::LinalgOp op) {
    // Reading the op makes views and sizes, which array-vectorize-linalg will make again.
    Made made;
    OpBuilder b(op);
    b.setListener(&made);
    loops::IndexBuilder indices(func.front());
    bool isReorderable = llvm::all_of(llvm::seq<unsigned>(0, op.getNumDpsInits()),
                                      [&](unsigned output) { return loops::matchCombiner(op, output).has_value(); });
    FailureOr<loops::IterationSpace> space = loops::IterationSpace::get(b, indices, op, isReorderable);
    LogicalResult result = success();
    if (succeeded(space)) { // else there are no strides, and scalar loops of upstream's
      loops::Nest nest{op, std::move(*space), {}};
      result = loops::takeSchedule(nest, {vectorBits, prefetchDistance});
      if (succeeded(result))
        op->setDiscardableAttr(loops::kScheduleAttr, loops::toAttribute(&getContext(), nest.space, nest.schedule));
    }
    for (Operation *each : llvm::reverse(made.ops))
      if (isOpTriviallyDead(each))
        each->erase();
    return result;
  }

  struct Made : OpBuilder::Listener {
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.push_back(op); }
    SmallVector<Operation *> ops;
  };
};

} // namespace
} // namespace mlir::array

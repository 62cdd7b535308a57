// array-predicate-launches: branches and loops with a condition that a kernel computes do not wait for the host; their
// kernels read the condition themselves. Runs after array-launch-stores; array-sink-loads follows.
//
// A loop is launched several iterations ahead. If an iteration should not run, its kernels detect this and return at
// once.
#include "HostAccesses.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array {

#define GEN_PASS_DEF_PREDICATELAUNCHES
#include "array/Gpu/Passes.h.inc"

namespace {

/// The maximum number of launches in both branches for which launching all of them costs less than waiting for the
/// condition.
constexpr int64_t kBranchLaunches = 8;
/// The number of iterations that are launched before the host checks whether the loop has ended.
constexpr int64_t kTripsAhead = 8;

/// The number of launches in a region, including both branches of conditionals; none if an effect cannot be undone.
std::optional<int64_t> launchesIn(Region &region) {
  int64_t count = 0;
  WalkResult walked = region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp>(op)) {
      ++count;
      return WalkResult::skip();
    }
    bool isHarmless = isMovable(op) || isa<memref::AllocOp, scf::YieldOp, scf::ConditionOp>(op);
    return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  return walked.wasInterrupted() ? std::nullopt : std::optional(count);
}

/// A flag in the device's memory.
class Flag {
public:
  explicit Flag(ImplicitLocOpBuilder &b) : buffer(memref::AllocOp::create(b, MemRefType::get({}, b.getI1Type()))) {}

  Value load(OpBuilder &b, Location loc) const { return memref::LoadOp::create(b, loc, buffer); }

  void set(ImplicitLocOpBuilder &b, llvm::function_ref<Value(ImplicitLocOpBuilder &)> value) const {
    launchThread(b, "condition",
                 [&](ImplicitLocOpBuilder &body) { memref::StoreOp::create(body, value(body), buffer); });
  }

  /// Makes the threads of a region's launches return at once unless the flag is as expected.
  void guard(Region &region, bool expected) const {
    region.walk([&](gpu::LaunchOp launch) {
      Block *first = &launch.getBody().front(), *rest = first->splitBlock(first->begin());
      keepStack(*rest, *first);
      OpBuilder b(launch.getContext());
      Block *end = b.createBlock(&launch.getBody(), launch.getBody().end());
      gpu::TerminatorOp::create(b, launch.getLoc());
      b.setInsertionPointToEnd(first);
      Value flag = load(b, launch.getLoc());
      cf::CondBranchOp::create(b, launch.getLoc(), flag, expected ? rest : end, expected ? end : rest);
    });
  }

private:
  /// Allocates stack space of a fixed size in the first block: elsewhere it counts as dynamic.
  static void keepStack(Block &from, Block &to) {
    for (auto space : llvm::make_early_inc_range(from.getOps<LLVM::AllocaOp>())) {
      Operation *size = space.getArraySize().getDefiningOp();
      if (!size || !size->hasTrait<OpTrait::ConstantLike>())
        continue;
      if (size->getBlock() == &from)
        size->moveBefore(&to, to.end());
      space->moveBefore(&to, to.end());
    }
  }

  Value buffer;
};

/// Moves the operations of a region's only block, except its terminator, before `op`.
void moveBefore(Region &region, Operation *op) {
  Block &block = region.front();
  op->getBlock()->getOperations().splice(op->getIterator(), block.getOperations(), block.begin(),
                                         std::prev(block.end()));
}

void predicate(scf::IfOp branch) {
  if (branch.getNumResults() > 0 || !dependsOnLoad(branch.getCondition()))
    return;
  int64_t launches = 0;
  for (Region *region : branch.getRegions()) {
    std::optional<int64_t> own = region->empty() ? 0 : launchesIn(*region);
    if (!own)
      return;
    launches += *own;
  }
  if (launches > kBranchLaunches)
    return;
  ImplicitLocOpBuilder b(branch.getLoc(), branch);
  Flag taken(b);
  taken.set(b, [&](ImplicitLocOpBuilder &) { return branch.getCondition(); });
  for (Region *region : branch.getRegions()) {
    if (region->empty())
      continue;
    taken.guard(*region, region == &branch.getThenRegion());
    moveBefore(*region, branch);
  }
  branch.erase();
}

void predicate(scf::WhileOp loop) {
  Value condition = loop.getConditionOp().getCondition();
  if (loop.getNumResults() > 0 || loop.getNumOperands() > 0 || !dependsOnLoad(condition) ||
      !launchesIn(loop.getBefore()) || !launchesIn(loop.getAfter()))
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Flag active(b);
  active.set(b, [](ImplicitLocOpBuilder &body) -> Value { return arith::ConstantIntOp::create(body, 1, 1); });
  active.guard(loop.getBefore(), true);
  active.guard(loop.getAfter(), true);

  auto batches = scf::WhileOp::create(b, TypeRange(), ValueRange());
  b.createBlock(&batches.getBefore());
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  auto trips = scf::ForOp::create(b, zero, arith::ConstantIndexOp::create(b, kTripsAhead), one);
  scf::ConditionOp::create(b, active.load(b, loop.getLoc()), ValueRange());
  Operation *end = trips.getBody()->getTerminator();
  moveBefore(loop.getBefore(), end);
  b.setInsertionPoint(end);
  active.set(b, [&](ImplicitLocOpBuilder &body) -> Value {
    return arith::AndIOp::create(body, active.load(body, loop.getLoc()), condition);
  });
  moveBefore(loop.getAfter(), end);
  b.createBlock(&batches.getAfter());
  scf::YieldOp::create(b);
  loop.erase();
}

struct PredicateLaunches : impl::PredicateLaunchesBase<PredicateLaunches> {
  void runOnOperation() override {
    // From the inside out: a predicated region contains only launches.
    SmallVector<Operation *> found;
    getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isa<scf::IfOp, scf::WhileOp>(op) && !op->getParentOfType<gpu::LaunchOp>())
        found.push_back(op);
    });
    for (Operation *op : found) {
      if (auto branch = dyn_cast<scf::IfOp>(op))
        predicate(branch);
      else
        predicate(cast<scf::WhileOp>(op));
    }
  }
};

} // namespace
} // namespace mlir::array

// array-map-row-fusions-to-gpu: linalg ops on the same rows become one launch (RowFusionForm.h). Runs after
// array-map-loops-to-gpu and array-map-routines-to-gpu, which need separate ops, and before array-map-to-gpu, which
// launches each remaining op, and array-plan-memory, because fused temporaries are not in memory any more.
#include "Analysis/BufferUses.h"
#include "Analysis/Footprint.h"
#include "RowFusionKernels.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPROWFUSIONSTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// Whether members may come from both sides of an op: it can be moved, or does not access memory.
bool isPassed(Operation *op) {
  return isa<linalg::LinalgOp, memref::CopyOp, memref::AllocOp>(op) || isMemoryEffectFree(op);
}

bool usesMemory(Operation *op) { return isa<linalg::LinalgOp, memref::CopyOp>(op); }

bool writes(OpOperand &operand) {
  auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  return op ? op.isDpsInit(&operand) : operand.get() == cast<memref::CopyOp>(operand.getOwner()).getTarget();
}

/// Whether two ops may run in either order.
bool mayPass(Operation *candidate, Operation *op) {
  auto clashes = [&](Value memref, bool isWritten) {
    Value root = loops::rootOf(memref);
    return !isMemoryOfItsOwn(root) || (isWritten ? mayUseMemory(op, root) : mayWriteMemory(op, root));
  };
  for (OpOperand &operand : candidate->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()) && clashes(operand.get(), writes(operand)))
      return false;
  return !candidate
              ->walk([&](memref::LoadOp load) {
                return clashes(load.getMemRef(), false) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Erases views and allocations without uses.
void eraseUnused(Value root) {
  llvm::SetVector<Value> views = viewsOf(root);
  for (Value view : llvm::reverse(views))
    if (Operation *source = view.getDefiningOp();
        source && source->use_empty() && isa<ViewLikeOpInterface, memref::AllocOp>(source))
      source->erase();
}

class Clusters {
public:
  explicit Clusters(Block &block) : block(block) {}

  LogicalResult run() {
    SmallVector<linalg::LinalgOp> reductions;
    for (auto op : block.getOps<linalg::LinalgOp>())
      if (op.getNumReductionLoops() > 0)
        reductions.push_back(op);
    for (linalg::LinalgOp op : reductions)
      if (!taken.contains(op) && failed(startAt(op)))
        return failure();
    return success();
  }

private:
  LogicalResult startAt(linalg::LinalgOp seed) {
    std::optional<Join> join = Join::of(seed);
    if (!join || seed.hasDynamicShape() || !seed.hasPureBufferSemantics())
      return success();
    KernelBuilder k(seed, "rows");
    FailureOr<Member> member = k.read(seed, /*reorderReductions=*/true);
    if (failed(member))
      return failure();
    std::optional<GpuRowFusion> fusion = GpuRowFusion::of(seed, std::move(*member), *join);
    if (!fusion) {
      k.abandon();
      return success();
    }
    if (failed(collect(k, *fusion, seed)))
      return failure();
    fusion->finish(seed);
    if (!isOfUse(*fusion)) {
      k.abandon();
      return success();
    }
    emit(k, *fusion);
    return success();
  }

  /// Collects the fitting neighbours of an op, in order. Other ops move before the kernel if possible, else after it,
  /// if later members allow that.
  LogicalResult collect(KernelBuilder &k, GpuRowFusion &fusion, Operation *seed) {
    auto isNeighbour = [&](Operation *op) { return op && (isPassed(op) || op == k.getLaunch()); };
    Operation *begin = seed;
    while (isNeighbour(begin->getPrevNode()))
      begin = begin->getPrevNode();
    while (begin) {
      fusion.members.clear();
      front.clear();
      behind.clear();
      FailureOr<Operation *> next = collectFrom(k, fusion, begin, seed);
      if (failed(next))
        return failure();
      begin = *next;
    }
    return success();
  }

  /// If the candidate op does not fit after the earlier members, returns the op from which to start instead; else null.
  FailureOr<Operation *> collectFrom(KernelBuilder &k, GpuRowFusion &fusion, Operation *begin, Operation *seed) {
    for (Operation *at = begin; at && (isPassed(at) || at == k.getLaunch()); at = at->getNextNode()) {
      if (!usesMemory(at))
        continue;
      auto op = dyn_cast<linalg::LinalgOp>(at);
      bool fits = op && fusion.mayTake(op);
      auto barrier = llvm::find_if(behind, [&](Operation *other) { return !mayPass(at, other); });
      if (fits && barrier == behind.end()) {
        std::optional<Join> join = Join::of(op);
        FailureOr<Member> member = k.read(op, join.has_value());
        if (failed(member))
          return failure();
        fits = fusion.add(op, std::move(*member), join);
      }
      if (fits && barrier == behind.end())
        continue;
      if (at == seed)
        return barrier == behind.end() ? seed : (*barrier)->getNextNode();
      if (barrier == behind.end() && mayPassMembers(fusion, at))
        front.push_back(at);
      else
        putBehind(fusion, at);
    }
    return nullptr;
  }

  static bool mayPassMembers(const GpuRowFusion &fusion, Operation *op) {
    return llvm::all_of(fusion.members, [&](const RowMember &member) { return mayPass(member.op, op); });
  }

  /// An op takes along the fills that only it uses: array-map-to-gpu fuses them into it.
  void putBehind(const GpuRowFusion &fusion, Operation *op) {
    for (size_t number = 0; number < front.size();) {
      auto fill = dyn_cast<linalg::FillOp>(front[number]);
      bool isFilled = fill && llvm::is_contained(op->getOperands(), fill.output());
      auto letsPass = [&](Operation *other) { return mayPass(other, fill); };
      // It also comes after those of `behind`: one may write a part of the filled buffer.
      if (isFilled && mayPassMembers(fusion, fill) && llvm::all_of(ArrayRef(front).drop_front(number + 1), letsPass) &&
          llvm::all_of(behind, letsPass)) {
        front.erase(front.begin() + number);
        behind.push_back(fill);
      } else {
        ++number;
      }
    }
    behind.push_back(op);
  }

  /// Whether the kernel replaces several ops: a fill is part of its op anyway.
  static bool isOfUse(const GpuRowFusion &fusion) {
    return llvm::count_if(fusion.members, [](const RowMember &member) { return !isa<linalg::FillOp>(member.op); }) > 1;
  }

  void emit(KernelBuilder &k, const GpuRowFusion &fusion) {
    Operation *last = fusion.members.back().op;
    llvm::SmallPtrSet<Operation *, 16> members;
    for (const RowMember &member : fusion.members)
      members.insert(member.op);
    gpu::LaunchOp launch = k.getLaunch();
    launch->moveBefore(last);
    Operation *place = last;
    for (Operation *op : behind)
      if (op->isBeforeInBlock(last)) {
        op->moveAfter(place);
        place = op;
      }
    emitRowFusion(k, fusion);

    SetVector<Value> roots;
    for (const RowMember &member : fusion.members)
      for (const Access &output : member.space().outputs())
        roots.insert(loops::rootOf(output.memref));
    taken.insert(members.begin(), members.end());
    for (Operation *member : members)
      member->erase();
    // Also erases views that were made only to analyze members.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(launch.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    for (Value root : roots)
      eraseUnused(root);
  }

  Block &block;
  SmallVector<Operation *> front, behind; ///< Ops before the kernel, or movable there, and ops after it.
  llvm::SmallPtrSet<Operation *, 16> taken;
};

struct MapRowFusionsToGpu : impl::MapRowFusionsToGpuBase<MapRowFusionsToGpu> {
  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation().walk([&](linalg::LinalgOp op) { blocks.insert(op->getBlock()); });
    for (Block *block : blocks)
      if (failed(Clusters(*block).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace mlir::array

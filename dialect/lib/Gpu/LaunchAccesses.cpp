// array-launch-accesses: what @main stores and loads itself is done by kernels, as the memory is the device's. Comes
// after array-map-to-gpu; array-plan-memory gives the temporaries that it asks for their places,
// array-outline-gpu-kernels follows.
#include "array/Gpu/Kernels.h"
#include "array/Gpu/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::array {

#define GEN_PASS_DEF_LAUNCHACCESSES
#include "array/Gpu/Passes.h.inc"

namespace {

/// What the host can't hand over: it launches, calls, or takes memory.
bool isHostOnly(Operation *op) {
  return isa<gpu::LaunchOp, RuntimeCallOp, CallOpInterface, memref::AllocOp, memref::DeallocOp>(op);
}

/// Whether an op writes memory, and a thread of the device can do all of it.
bool isWriter(Operation *op) {
  bool writes = false;
  WalkResult walked = op->walk([&](Operation *inner) {
    writes |= isa<memref::StoreOp, memref::CopyOp>(inner) || hasEffect<MemoryEffects::Write>(inner);
    return isHostOnly(inner) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return writes && !walked.wasInterrupted() && !op->hasTrait<OpTrait::IsTerminator>();
}

/// Whether an op can be done by the device at a later time, if nothing it loads is overwritten until then.
bool isMovable(Operation *op) {
  return isa<memref::LoadOp>(op) || (op->getNumRegions() == 0 && isMemoryEffectFree(op));
}

gpu::LaunchOp launchThread(ImplicitLocOpBuilder &b, StringRef name) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto launch = gpu::LaunchOp::create(b, one, one, one, one, one, one);
  launch->setAttr(kLaunchNameAttr, b.getStringAttr(name));
  OpBuilder atEnd = OpBuilder::atBlockEnd(&launch.getBody().front());
  gpu::TerminatorOp::create(atEnd, b.getLoc());
  return launch;
}

//===-- Stores
//------------------------------------------------------------------------------------------------------===//

/// Makes launches of the writers of a block and of those inside of its other operations.
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
  /// What others need of a group, and a launch does not give: the group ends before it.
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

  /// From the first writer to the last one: what is between them is done by the same thread.
  static void launch(ArrayRef<Operation *> part) {
    part = part.drop_until([](Operation *op) { return isWriter(op); });
    while (!part.empty() && !isWriter(part.back()))
      part = part.drop_back();
    if (part.empty())
      return;
    ImplicitLocOpBuilder b(part.back()->getLoc(), part.back());
    Operation *body = launchThread(b, "store").getBody().front().getTerminator();
    b.setInsertionPoint(body);
    IRMapping copies;
    for (Operation *op : part)
      b.clone(*op, copies);
    for (Operation *op : llvm::reverse(part))
      if (op->use_empty())
        op->erase();
  }
};

//===-- Loads
//-------------------------------------------------------------------------------------------------------===//

/// The allocation or the argument whose memory a buffer is in; null where that is not known.
Value rootOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  bool isArgument = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isArgument || buffer.getDefiningOp<memref::AllocOp>() || buffer.getDefiningOp<memref::GetGlobalOp>() ? buffer
                                                                                                              : Value();
}

/// Whether two buffers may share memory: arguments of @main don't (array-prepare-entry).
bool mayShare(Value a, Value b) {
  Value first = rootOf(a), second = rootOf(b);
  return !first || !second || first == second;
}

/// Whether an op, or one inside of it, may write what a load reads.
bool mayWrite(Operation *op, memref::LoadOp load) {
  return op
      ->walk([&](Operation *inner) {
        auto interface = dyn_cast<MemoryEffectOpInterface>(inner);
        if (!interface) {
          bool hasOwn = inner->getNumRegions() > 0 || isMemoryEffectFree(inner) || isa<gpu::TerminatorOp>(inner);
          return hasOwn ? WalkResult::advance() : WalkResult::interrupt();
        }
        SmallVector<MemoryEffects::EffectInstance> effects;
        interface.getEffects(effects);
        bool conflicts = llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &effect) {
          if (!isa<MemoryEffects::Write>(effect.getEffect()))
            return false;
          Value written = effect.getValue();
          return !written || !isa<MemRefType>(written.getType()) || mayShare(written, load.getMemRef());
        });
        return conflicts ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the memory that a load reads is the same still when a launch runs, and while it does.
bool lasts(memref::LoadOp load, gpu::LaunchOp launch) {
  Operation *last = load->getBlock()->findAncestorOpInBlock(*launch);
  for (Operation *op = load->getNextNode(); op; op = op->getNextNode()) {
    if (mayWrite(op, load))
      return false;
    if (op == last)
      return true;
  }
  return false;
}

/// Loads in a launch what it captures of loads.
class LoadSinking {
public:
  explicit LoadSinking(gpu::LaunchOp launch) : launch(launch), b(OpBuilder::atBlockBegin(&launch.getBody().front())) {}

  void run() {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(launch.getBody(), captured);
    for (Value value : captured)
      if (dependsOnLoad(value))
        replaceAllUsesInRegionWith(value, computeHere(value), launch.getBody());
  }

private:
  static bool dependsOnLoad(Value value) {
    Operation *source = value.getDefiningOp();
    if (!source || !isMovable(source))
      return false;
    return isa<memref::LoadOp>(source) || llvm::any_of(source->getOperands(), dependsOnLoad);
  }

  Value computeHere(Value value) {
    Operation *source = value.getDefiningOp();
    if (!dependsOnLoad(value))
      return value;
    if (Value known = copies.lookupOrNull(value))
      return known;
    if (auto load = dyn_cast<memref::LoadOp>(source); load && !lasts(load, launch))
      return copies.map(value, loadKept(load)), copies.lookup(value);
    for (Value operand : source->getOperands())
      if (Value own = computeHere(operand); own != operand)
        copies.map(operand, own);
    Operation *cloned = b.clone(*source, copies);
    copies.map(source->getResults(), cloned->getResults());
    return copies.lookup(value);
  }

  /// The value of a load, of a temporary that it is kept in by a launch of its own.
  Value loadKept(memref::LoadOp load) {
    ImplicitLocOpBuilder at(load.getLoc(), load);
    Value kept = memref::AllocOp::create(at, MemRefType::get({}, load.getType()));
    gpu::LaunchOp keep = launchThread(at, "keep");
    OpBuilder inside(keep.getBody().front().getTerminator());
    Value own = cast<memref::LoadOp>(inside.clone(*load)).getResult();
    memref::StoreOp::create(inside, load.getLoc(), own, kept);
    LoadSinking(keep).run(); // its indices may be loaded too
    return memref::LoadOp::create(b, load.getLoc(), kept);
  }

  gpu::LaunchOp launch;
  OpBuilder b;
  IRMapping copies;
};

struct LaunchAccesses : impl::LaunchAccessesBase<LaunchAccesses> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    WriterGrouping().run(function.getBody().front());
    SmallVector<gpu::LaunchOp> launches;
    function.walk([&](gpu::LaunchOp launch) { launches.push_back(launch); });
    for (gpu::LaunchOp launch : launches)
      LoadSinking(launch).run();
    eraseUnused(function);
  }

  /// Loads that kernels do for themselves now, and what was computed of them.
  static void eraseUnused(func::FuncOp function) {
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::LaunchOp>(op))
        return WalkResult::skip();
      ops.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && op->getNumResults() > 0 && isMovable(op))
        op->erase();
  }
};

} // namespace
} // namespace mlir::array

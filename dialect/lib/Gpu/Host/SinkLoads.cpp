// array-sink-loads: if a kernel needs values that @main loads, the kernel loads them itself. Runs after
// array-predicate-launches; array-plan-memory places the temporaries that it adds.
#include "HostAccesses.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::array {

#define GEN_PASS_DEF_SINKLOADS
#include "array/Gpu/Passes.h.inc"

namespace {

/// The allocation or argument whose memory contains a buffer; null if unknown.
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

/// Whether an op, or one inside of it, may write the memory of a load.
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

/// Whether the memory of a load does not change before and during a launch.
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

/// Repeats in a launch the loads whose values it captures.
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

  /// The value of a load, from a temporary to which a separate launch copies it.
  Value loadKept(memref::LoadOp load) {
    ImplicitLocOpBuilder at(load.getLoc(), load);
    Value kept = memref::AllocOp::create(at, MemRefType::get({}, load.getType()));
    gpu::LaunchOp keep = launchThread(at, "keep", [&](ImplicitLocOpBuilder &body) {
      Value own = cast<memref::LoadOp>(body.clone(*load)).getResult();
      memref::StoreOp::create(body, own, kept);
    });
    LoadSinking(keep).run(); // its indices may be loaded too
    return memref::LoadOp::create(b, load.getLoc(), kept);
  }

  gpu::LaunchOp launch;
  OpBuilder b;
  IRMapping copies;
};

struct SinkLoads : impl::SinkLoadsBase<SinkLoads> {
  void runOnOperation() override {
    SmallVector<gpu::LaunchOp> launches;
    getOperation().walk([&](gpu::LaunchOp launch) { launches.push_back(launch); });
    for (gpu::LaunchOp launch : launches)
      LoadSinking(launch).run();
    eraseUnused(getOperation());
  }

  /// Erases loads that kernels now do themselves, and operations on them.
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

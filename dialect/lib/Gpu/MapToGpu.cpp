// array-map-to-gpu: linalg ops and copies on buffers become launches of kernels. It comes after array-plan-memory, as
// temporaries need their places first; array-outline-gpu-kernels follows. What the threads do is in KernelEmitter.cpp.
//
// Points of the parallel dimensions are counted with the last one running fastest, so that neighbours of a warp read
// neighbours in memory. A thread has a point to itself, or as many as are 16 bytes where they lie side by side. It sums
// in a loop, unless it would run along memory: then a warp shares the point, or a block where there are many steps.
#include "KernelEmitter.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// Threads of a block: eight warps hide the latency of memory on every generation, and leave 256 registers to each.
constexpr int64_t kBlockSize = 256;
/// Steps of a reduction from which a block shares it, rather than a warp.
constexpr int64_t kBlockSteps = 1024;

/// How many threads work on a point together.
int64_t threadsFor(KernelEmitter &emitter) {
  if (emitter.steps() < kWarpSize || !emitter.canShare() || !emitter.runsAlongMemory())
    return 1;
  return emitter.steps() < kBlockSteps ? kWarpSize : kBlockSize;
}

/// The fill right before an op that only adds to the buffer.
linalg::FillOp fillBefore(linalg::LinalgOp op, KernelEmitter &emitter) {
  Operation *before = op->getPrevNode();
  while (before && isMemoryEffectFree(before))
    before = before->getPrevNode();
  auto fill = dyn_cast_or_null<linalg::FillOp>(before);
  return fill && emitter.addsTo(fill.output()) ? fill : linalg::FillOp();
}

struct MapToGpu : impl::MapToGpuBase<MapToGpu> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, memref::CopyOp>(op))
        ops.push_back(op);
    });
    // Backwards: an op takes the fill before it with it.
    llvm::SmallPtrSet<Operation *, 8> taken;
    for (Operation *op : llvm::reverse(ops))
      if (!taken.contains(op) && failed(mapOp(op, taken)))
        return signalPassFailure();
    for (Operation *fill : taken)
      fill->erase();
  }

  static LogicalResult mapOp(Operation *op, llvm::SmallPtrSetImpl<Operation *> &taken) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    StringRef name = isa<linalg::FillOp>(op) ? "fill" : isa<memref::CopyOp>(op) ? "copy" : "map";
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      op = linalg::makeMemRefCopyOp(b, op->getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
      b.setInsertionPoint(op);
    }
    auto structured = cast<linalg::LinalgOp>(op);
    if (structured.hasDynamicShape() || !structured.hasPureBufferSemantics())
      return op->emitError("a kernel is made of operations on buffers of static shapes");
    KernelEmitter emitter(structured, b);
    if (structured.getNumReductionLoops() > 0)
      name = "reduce";
    while (linalg::FillOp fill = fillBefore(structured, emitter)) {
      emitter.setInitial(fill.output(), fill.value());
      fill->moveAfter(op); // out of the way of the next one
      taken.insert(fill);
    }
    if (emitter.points() > 0)
      emitLaunch(b, emitter, name);
    op->erase();
    return success();
  }

  static void emitLaunch(ImplicitLocOpBuilder &b, KernelEmitter &emitter, StringRef name) {
    int64_t neighbours = emitter.neighbours(), sharers = threadsFor(emitter);
    // From here on a point stands for all that a thread takes.
    int64_t points = emitter.points() / neighbours;
    int64_t warps = llvm::divideCeil(points * sharers, kWarpSize), threads = std::min(kBlockSize, kWarpSize * warps);
    int64_t pointsOfBlock = threads / sharers, blocks = llvm::divideCeil(points, pointsOfBlock);
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
    Value one = constant(1);
    auto launch = gpu::LaunchOp::create(b, constant(blocks), one, one, constant(threads), one, one);
    launch->setAttr("array.kernel", b.getStringAttr(name));
    b.setInsertionPointToStart(&launch.getBody().front());
    Value thread = launch.getThreadIds().x, within = thread, share;
    if (sharers > 1) {
      within = arith::DivUIOp::create(b, thread, constant(sharers));
      share = arith::RemUIOp::create(b, thread, constant(sharers));
    }
    Value first = arith::MulIOp::create(b, launch.getBlockIds().x, constant(pointsOfBlock));
    Value point = arith::AddIOp::create(b, first, within);
    auto emit = [&] {
      if (share)
        emitter.emitShare(point, share, sharers, launch);
      else if (neighbours > 1)
        emitter.emitNeighbours(arith::MulIOp::create(b, point, constant(neighbours)), neighbours);
      else
        emitter.emitPoint(point);
    };
    if (points == blocks * pointsOfBlock) { // always so for blocks that share a point: their barriers need every thread
      emit();
    } else {
      Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, point, constant(points));
      auto guarded = scf::IfOp::create(b, isInside, /*withElseRegion=*/false);
      b.setInsertionPointToStart(&guarded.getThenRegion().front());
      emit();
      b.setInsertionPointAfter(guarded);
    }
    gpu::TerminatorOp::create(b);
  }
};

} // namespace
} // namespace mlir::array

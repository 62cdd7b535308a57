// array-map-loops-to-gpu: small loops and conditionals run on the device as a whole, in one thread. Runs before
// array-map-to-gpu, which launches each remaining operation.
#include "array/Gpu/Kernels.h"
#include "array/Gpu/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPLOOPSTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// The steps of a thread in about the time of a launch, a few microseconds.
constexpr int64_t kFewSteps = 256;

/// The number of times that the body of a linalg op or of a copy runs; none if unknown.
std::optional<int64_t> stepsOf(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto type = cast<MemRefType>(copy.getSource().getType());
    return type.hasStaticShape() ? std::optional(type.getNumElements()) : std::nullopt;
  }
  auto structured = cast<linalg::LinalgOp>(op);
  if (structured.hasDynamicShape())
    return std::nullopt;
  int64_t steps = 1;
  for (int64_t size : structured.getStaticLoopRanges())
    steps *= size;
  return steps;
}

/// Whether one thread is fast enough for the whole op.
bool isSmall(Operation *op) {
  return !op->walk([](Operation *inner) {
              // The budget of a run is counted on the host.
              bool isTooMuch = isa<RuntimeCallOp, SpendOp, gpu::LaunchOp, CallOpInterface>(inner);
              if (isa<linalg::LinalgOp, memref::CopyOp>(inner))
                isTooMuch = stepsOf(inner).value_or(kFewSteps + 1) > kFewSteps;
              return isTooMuch ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

struct MapLoopsToGpu : impl::MapLoopsToGpuBase<MapLoopsToGpu> {
  void runOnOperation() override {
    SmallVector<Operation *> small;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::LaunchOp>(op)) // already in a kernel
        return WalkResult::skip();
      if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op) || !op->use_empty() || !isSmall(op))
        return WalkResult::advance();
      small.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : small)
      if (failed(launch(op)))
        return signalPassFailure();
  }

  static LogicalResult launch(Operation *op) {
    if (failed(lowerToLoops(op)))
      return failure();
    op->walk([&](Operation *inner) {
      // No iteration reads another one's temporaries, so all iterations share one.
      if (isa<memref::AllocOp>(inner))
        inner->moveBefore(op);
      if (isa<memref::DeallocOp>(inner))
        inner->erase();
    });
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value one = arith::ConstantIndexOp::create(b, 1);
    auto launch = gpu::LaunchOp::create(b, one, one, one, one, one, one);
    launch->setAttr(kLaunchNameAttr, b.getStringAttr("loop"));
    b.setInsertionPointToStart(&launch.getBody().front());
    op->moveBefore(gpu::TerminatorOp::create(b));
    return success();
  }

  static LogicalResult lowerToLoops(Operation *op) {
    SmallVector<Operation *> ops;
    op->walk([&](Operation *inner) {
      if (isa<linalg::LinalgOp, memref::CopyOp>(inner))
        ops.push_back(inner);
    });
    IRRewriter rewriter(op->getContext());
    for (Operation *inner : ops) {
      rewriter.setInsertionPoint(inner);
      if (auto copy = dyn_cast<memref::CopyOp>(inner)) {
        linalg::GenericOp generic =
            linalg::makeMemRefCopyOp(rewriter, inner->getLoc(), copy.getSource(), copy.getTarget());
        rewriter.eraseOp(inner);
        inner = generic;
      }
      rewriter.setInsertionPoint(inner);
      if (failed(linalg::linalgOpToLoops(rewriter, cast<linalg::LinalgOp>(inner))))
        return inner->emitError("a loop of one thread is made of operations on buffers of static shapes");
      rewriter.eraseOp(inner);
    }
    return success();
  }
};

} // namespace
} // namespace mlir::array

// array-map-to-gpu: linalg ops and copies on buffers become launches of kernels. It runs before array-plan-memory,
// because reductions that several blocks share allocate memory; array-outline-gpu-kernels follows. This file assigns
// work to threads; the strategies of Kernels.h emit the kernels.
//
// Points of the parallel dimensions are numbered with the last dimension fastest, so that neighbours in a warp read
// adjacent elements.
#include "Kernels.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

bool movesAlongSteps(const Access &access, const IterationSpace &space) {
  return llvm::any_of(llvm::seq<unsigned>(countParallel(space), space.dims.size()),
                      [&](unsigned dim) { return access.moves(dim); });
}

struct MapToGpu : impl::MapToGpuBase<MapToGpu> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, memref::CopyOp>(op))
        ops.push_back(op);
    });
    // Backwards: an op takes over the fills before it.
    llvm::SmallPtrSet<Operation *, 8> taken;
    for (Operation *op : llvm::reverse(ops))
      if (!taken.contains(op) && failed(mapOp(op, taken)))
        return signalPassFailure();
    for (Operation *fill : taken)
      fill->erase();
  }

  static LogicalResult mapOp(Operation *op, llvm::SmallPtrSetImpl<Operation *> &taken) {
    StringRef name = isa<linalg::FillOp>(op) ? "fill" : isa<memref::CopyOp>(op) ? "copy" : "map";
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      OpBuilder b(op);
      op = linalg::makeMemRefCopyOp(b, op->getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
    auto structured = cast<linalg::LinalgOp>(op);
    std::optional<Join> join = Join::of(structured);
    KernelBuilder k(op, structured.getNumReductionLoops() > 0 ? "reduce" : name);
    FailureOr<Member> member = k.read(structured, /*reorderReductions=*/join.has_value());
    if (failed(member))
      return failure();
    SmallVector<linalg::FillOp> fills = takeFills(structured, k, *member);
    Values parts = emit(k, *member, join);
    if (!parts.empty() && failed(emitSecondPass(structured, *join, parts, fills)))
      return failure();
    taken.insert(fills.begin(), fills.end());
    op->erase();
    return success();
  }

  /// Returns the parts that a second pass joins.
  static Values emit(KernelBuilder &k, const Member &member, const std::optional<Join> &join) {
    ArrayRef<loops::LoopDim> dims = member.space.dims;
    auto isEmpty = [](const loops::LoopDim &dim) { return dim.size.isZero(); };
    if (llvm::any_of(dims, [&](const loops::LoopDim &dim) { return isEmpty(dim) && !dim.reduced; })) {
      k.abandon();
      return {};
    }
    if (!member.space.hasReduction()) {
      if (!emitTransposed(k, member))
        emitElementwise(k, member);
      return {};
    }
    if (!join || llvm::any_of(dims, isEmpty))
      return emitColumns(k, member, nullptr);
    return runsAlongMemory(member.space) ? emitRows(k, member, *join) : emitColumns(k, member, &*join);
  }

  static LogicalResult emitSecondPass(linalg::LinalgOp op, const Join &join, ValueRange parts,
                                      ArrayRef<linalg::FillOp> fills) {
    KernelBuilder k(op, "join");
    FailureOr<Member> member = k.read(op, /*reorderReductions=*/true);
    if (failed(member))
      return failure();
    for (linalg::FillOp fill : fills)
      setInitial(*member, fill);
    emitJoinOfParts(k, *member, join, parts);
    return success();
  }

  static void setInitial(Member &member, linalg::FillOp fill) {
    for (Access &access : member.space.accesses)
      if (access.isOutput && access.memref == fill.output())
        access.init = fill.value();
  }

  /// The fills right before a reduction that only initialize its buffers: their values need not be stored.
  static SmallVector<linalg::FillOp> takeFills(linalg::LinalgOp op, KernelBuilder &k, Member &member) {
    SmallVector<linalg::FillOp> fills;
    if (op.getNumReductionLoops() == 0)
      return fills;
    auto addsTo = [&](Value buffer) {
      return llvm::count(op->getOperands(), buffer) == 1 &&
             llvm::any_of(member.space.outputs(), [&](const Access &output) {
               return output.memref == buffer && !output.init && !movesAlongSteps(output, member.space);
             });
    };
    for (Operation *at = k.getLaunch()->getPrevNode(); at; at = at->getPrevNode()) {
      auto fill = dyn_cast<linalg::FillOp>(at);
      if (fill && addsTo(fill.output())) {
        setInitial(member, fill);
        fills.push_back(fill);
      } else if (!isMemoryEffectFree(at) && !isa<memref::AllocOp>(at)) {
        break;
      }
    }
    return fills;
  }
};

} // namespace
} // namespace mlir::array

// The pass array-linalg-to-loops: every linalg op on memrefs, and every memref.copy, becomes scf.for loops over 1-D
// vectors. Comes after bufferization, memory planning and array-lower-contractions; array-expand-math and the
// conversions to LLVM follow. LinalgToLoopsSpace reads an op, LinalgToLoopsStrategy chooses, LinalgToLoopsNest and
// LinalgToLoopsBody emit.
#include "LinalgToLoopsNest.h"
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::array {
#define GEN_PASS_DEF_LINALGTOLOOPS
#include "array/Transforms/Passes.h.inc"

namespace {

/// Scalar loops over the op as it stands: for what has no iteration space with strides.
LogicalResult emitFallback(IRRewriter &rewriter, linalg::LinalgOp op) {
  FailureOr<linalg::LinalgLoops> nest = linalg::linalgOpToLoops(rewriter, op);
  if (failed(nest))
    return op.emitOpError("has no form as loops");
  SmallVector<affine::AffineApplyOp> applies;
  if (!nest->empty())
    nest->front()->walk([&](affine::AffineApplyOp apply) { applies.push_back(apply); });
  for (affine::AffineApplyOp apply : applies) {
    rewriter.setInsertionPoint(apply);
    auto values = affine::expandAffineMap(rewriter, apply.getLoc(), apply.getAffineMap(), apply.getOperands());
    rewriter.replaceOp(apply, *values);
  }
  return success();
}

struct LinalgToLoops : impl::LinalgToLoopsBase<LinalgToLoops> {
  using LinalgToLoopsBase::LinalgToLoopsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    IRRewriter rewriter(&getContext());
    loops::IndexBuilder indices(func.front());
    SmallVector<Operation *> worklist;
    func.walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, memref::CopyOp>(op))
        worklist.push_back(op);
    });
    for (Operation *op : worklist)
      if (failed(lower(rewriter, indices, op)))
        return signalPassFailure();
  }

  LogicalResult lower(IRRewriter &rewriter, loops::IndexBuilder &indices, Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      op = rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(), copy.getTarget());
    auto linalgOp = cast<linalg::LinalgOp>(op);
    if (!linalgOp.hasPureBufferSemantics())
      return linalgOp.emitOpError("works on tensors; array-linalg-to-loops runs after bufferization");
    rewriter.setInsertionPoint(op);
    if (llvm::is_contained(linalgOp.getStaticLoopRanges(), 0)) {
      rewriter.eraseOp(op);
      return success();
    }
    bool isReorderable = llvm::all_of(llvm::seq<unsigned>(0, linalgOp.getNumDpsInits()), [&](unsigned output) {
      return loops::matchCombiner(linalgOp, output).has_value();
    });
    FailureOr<loops::IterationSpace> space = loops::IterationSpace::get(rewriter, indices, linalgOp, isReorderable);
    if (failed(space)) {
      if (failed(emitFallback(rewriter, linalgOp)))
        return failure();
    } else {
      loops::emitNest(rewriter, indices, linalgOp, *space, loops::chooseStrategy(linalgOp, *space, vectorBits));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace
} // namespace mlir::array

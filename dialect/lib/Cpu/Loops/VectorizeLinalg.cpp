// The pass array-vectorize-linalg: every linalg op on memrefs, and every memref.copy, becomes scf.for loops over 1-D
// vectors. Runs after bufferization, array-lower-matmuls and array-reuse-buffers; array-plan-memory, array-expand-math
// and the conversions to LLVM follow. IterationSpace reads an op, LoopSchedule chooses, LoopNest and LoopBody emit.
#include "RowFusion.h"
#include "ScheduleAttr.h"
#include "array/Analysis/GivenUp.h"
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::array {
#define GEN_PASS_DEF_VECTORIZELINALG
#include "array/Cpu/Passes.h.inc"

namespace {

/// Scalar loops that replace the op if it has no iteration space with strides.
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

/// Lowers the ops of one function, block by block in order, so that neighbours can share loops.
class Lowering {
public:
  Lowering(func::FuncOp func, const loops::Machine &machine, bool marksKernels)
      : rewriter(func.getContext()), indices(func.front()), machine(machine), fusion(machine, marksKernels) {}

  LogicalResult lowerBlock(Block &block);

private:
  LogicalResult lower(linalg::LinalgOp op);
  LogicalResult lowerFill(linalg::FillOp fill, Operation *consumer);
  bool isLeftToConsumer(linalg::FillOp fill);
  LogicalResult takeFills(loops::Nest &nest);
  FailureOr<loops::IterationSpace> read(linalg::LinalgOp op);

  IRRewriter rewriter;
  loops::IndexBuilder indices;
  loops::Machine machine;
  loops::RowFusion fusion;
  DenseMap<Value, linalg::FillOp> fills; // their consumer comes later in the block
};

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      // An in-place change leaves a copy of a buffer to itself: canonicalization finds that both views are one.
      if (copy.getSource() == copy.getTarget()) {
        rewriter.eraseOp(copy);
        continue;
      }
      rewriter.setInsertionPoint(copy);
      if (failed(lower(rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(), copy.getTarget()))))
        return failure();
    } else if (auto fill = dyn_cast<linalg::FillOp>(op); fill && isLeftToConsumer(fill)) {
      fills[fill.getOutputs().front()] = fill;
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (failed(lower(linalgOp)))
        return failure();
    } else if (!isMemoryEffectFree(&op) && !isa<memref::AllocOp>(op)) {
      fusion.emit(rewriter, indices);
    }
  }
  fusion.emit(rewriter, indices);
  return success();
}

/// Whether the next use of the filled buffer is as an output that the op covers entirely.
bool Lowering::isLeftToConsumer(linalg::FillOp fill) {
  Value buffer = fill.getOutputs().front();
  if (!isa<MemRefType>(buffer.getType()) ||
      fill.getInputs().front().getType() != getElementTypeOrSelf(buffer.getType()))
    return false;
  Operation *next = nullptr;
  for (Operation *user : buffer.getUsers()) {
    Operation *inBlock = fill->getBlock()->findAncestorOpInBlock(*user);
    if (inBlock && fill->isBeforeInBlock(inBlock) && (!next || inBlock->isBeforeInBlock(next)))
      next = inBlock;
  }
  auto consumer = dyn_cast_or_null<linalg::LinalgOp>(next);
  if (!consumer || isa<linalg::FillOp>(next) || llvm::count(next->getOperands(), buffer) != 1)
    return false;
  OpOperand *operand = llvm::find_if(consumer->getOpOperands(), [&](OpOperand &o) { return o.get() == buffer; });
  bool isCaptured = llvm::any_of(buffer.getUsers(), [&](Operation *user) { return next->isProperAncestor(user); });
  return consumer.isDpsInit(operand) && consumer.getMatchingIndexingMap(operand).isProjectedPermutation() &&
         !isCaptured;
}

LogicalResult Lowering::lowerFill(linalg::FillOp fill, Operation *consumer) {
  fills.erase(fill.getOutputs().front());
  rewriter.moveOpBefore(fill, consumer); // it is emitted after the operations between them
  return lower(fill);
}

/// An accumulator starts at the filled value instead of loading it; an output that is only written needs no fill.
LogicalResult Lowering::takeFills(loops::Nest &nest) {
  bool startsOnce = !nest.schedule.tileDim || !nest.space.dims[*nest.schedule.tileDim].reduced;
  for (loops::Access &access : nest.space.accesses) {
    linalg::FillOp fill = access.isOutput ? fills.lookup(access.memref) : nullptr;
    if (!fill)
      continue;
    bool isAccumulated = nest.space.hasReduction() && llvm::none_of(llvm::enumerate(nest.space.dims), [&](auto dim) {
                           return dim.value().reduced && access.moves(dim.index());
                         });
    if (!access.argument.use_empty() && !(isAccumulated && startsOnce)) {
      if (failed(lowerFill(fill, nest.op)))
        return failure();
      continue;
    }
    access.init = fill.getInputs().front();
    fills.erase(access.memref);
    rewriter.eraseOp(fill);
  }
  return success();
}

FailureOr<loops::IterationSpace> Lowering::read(linalg::LinalgOp op) {
  bool isReorderable = llvm::all_of(llvm::seq<unsigned>(0, op.getNumDpsInits()),
                                    [&](unsigned output) { return loops::matchCombiner(op, output).has_value(); });
  rewriter.setInsertionPoint(op);
  return loops::IterationSpace::get(rewriter, indices, op, isReorderable);
}

LogicalResult Lowering::lower(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError("works on tensors; array-vectorize-linalg runs after bufferization");
  bool isEmpty = llvm::is_contained(op.getStaticLoopRanges(), 0);
  FailureOr<loops::IterationSpace> space = failure();
  if (!isEmpty)
    space = read(op);
  if (succeeded(space)) {
    loops::Nest nest{op, std::move(*space), {}};
    if (failed(loops::takeSchedule(nest, machine)) || failed(takeFills(nest)))
      return failure();
    if (!fusion.join(rewriter, indices, nest)) {
      fusion.emit(rewriter, indices);
      fusion.join(rewriter, indices, std::move(nest));
    }
    return success();
  }
  for (Value output : op.getDpsInits())
    if (linalg::FillOp fill = fills.lookup(output); fill && failed(lowerFill(fill, op)))
      return failure();
  fusion.emit(rewriter, indices);
  if (!isEmpty) {
    tellGivenUp(op.getLoc(), "scalar-loops", op->getName().getStringRef() + " is computed element by element");
    if (failed(emitFallback(rewriter, op)))
      return failure();
  }
  rewriter.eraseOp(op);
  return success();
}

/// A loop that runs once if a condition holds becomes a conditional. Scatters are lowered to such loops.
void runOnceByCondition(func::FuncOp func) {
  SmallVector<scf::ForOp> loops;
  func.walk([&](scf::ForOp loop) {
    auto count = loop.getUpperBound().getDefiningOp<arith::IndexCastUIOp>();
    if (count && count.getIn().getType().isInteger(1) && isZeroInteger(loop.getLowerBound()) &&
        isOneInteger(loop.getStep()) && loop.getNumResults() == 0)
      loops.push_back(loop);
  });
  IRRewriter rewriter(func.getContext());
  for (scf::ForOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    Value condition = loop.getUpperBound().getDefiningOp<arith::IndexCastUIOp>().getIn();
    auto branch = scf::IfOp::create(rewriter, loop.getLoc(), condition);
    rewriter.eraseOp(branch.thenBlock()->getTerminator());
    rewriter.inlineBlockBefore(loop.getBody(), branch.thenBlock(), branch.thenBlock()->end(), loop.getLowerBound());
    rewriter.eraseOp(loop);
  }
}

struct VectorizeLinalg : impl::VectorizeLinalgBase<VectorizeLinalg> {
  using VectorizeLinalgBase::VectorizeLinalgBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    runOnceByCondition(func);
    llvm::SetVector<Block *> blocks;
    func.walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, memref::CopyOp>(op))
        blocks.insert(op->getBlock());
    });
    Lowering lowering(func, {vectorBits, prefetchDistance}, marksKernels);
    for (Block *block : blocks)
      if (failed(lowering.lowerBlock(*block)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace mlir::array

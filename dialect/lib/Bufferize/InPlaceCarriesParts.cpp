// The part of array-in-place-carries for a next value that is inserted part by part, as that of a stencil: each part
// reads its own elements of the current value, and is computed in their place.
#include "InPlaceCarries.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::array;

bool prepare::areDisjoint(tensor::ExtractSliceOp read, tensor::InsertSliceOp written) {
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      read.getContext(), HyperrectangularSlice(read), HyperrectangularSlice(written));
  return succeeded(overlap) && !*overlap;
}

SmallVector<tensor::InsertSliceOp> prepare::insertionsFrom(Value tensor, Block *block) {
  SmallVector<tensor::InsertSliceOp> insertions;
  auto nextOf = [&](Value value) {
    auto users = llvm::make_filter_range(value.getUsers(), [&](Operation *user) {
      auto insertion = dyn_cast<tensor::InsertSliceOp>(user);
      return insertion && insertion.getDest() == value && insertion->getBlock() == block;
    });
    return users.empty() ? tensor::InsertSliceOp() : cast<tensor::InsertSliceOp>(*users.begin());
  };
  for (tensor::InsertSliceOp next = nextOf(tensor); next; next = nextOf(next.getResult()))
    insertions.push_back(next);
  return insertions;
}

bool prepare::isReadAfterItsPart(Value current, tensor::EmptyOp empty, SmallVectorImpl<OpOperand *> &ofSlices) {
  Operation *first = *empty->user_begin();
  bool isLoop = isa<scf::ForOp, scf::WhileOp>(first);
  if (!isLoop && !isa<tensor::InsertSliceOp>(first))
    return false;
  Block *block = first->getBlock();
  SmallVector<tensor::InsertSliceOp> insertions = insertionsFrom(empty, block);
  return llvm::any_of(derivedFrom(current, first), [&](Value value) {
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    bool isOfCurrent = !isLoop && slice && slice.getSource() == current;
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner(), *inBlock = block->findAncestorOpInBlock(*user);
      if (!inBlock || !(first->isBeforeInBlock(inBlock) || (isLoop && inBlock == first)))
        return false;
      if (!isLoop && value == current && isa<tensor::ExtractSliceOp>(user))
        return false; // its readers are looked at
      if (!isOfCurrent || llvm::any_of(insertions, [&](tensor::InsertSliceOp insertion) {
            return insertion->isBeforeInBlock(inBlock) && !areDisjoint(slice, insertion);
          }))
        return true;
      ofSlices.push_back(&use);
      return false;
    });
  });
}

void prepare::readFromInsertions(RewriterBase &rewriter, ArrayRef<tensor::InsertSliceOp> insertions,
                                 ArrayRef<OpOperand *> ofSlices) {
  for (OpOperand *use : ofSlices) {
    auto slice = use->get().getDefiningOp<tensor::ExtractSliceOp>();
    Operation *reader = insertions.front()->getBlock()->findAncestorOpInBlock(*use->getOwner());
    tensor::InsertSliceOp last;
    for (tensor::InsertSliceOp insertion : insertions)
      last = insertion->isBeforeInBlock(reader) ? insertion : last;
    rewriter.setInsertionPoint(reader);
    auto moved = cast<tensor::ExtractSliceOp>(rewriter.clone(*slice));
    moved.getSourceMutable().assign(last.getResult());
    rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(moved.getResult()); });
    if (slice->use_empty())
      rewriter.eraseOp(slice);
  }
}

/// Computes an inserted part in the place of the elements that it reads from there, if it is elementwise in them.
static void computeInPlace(RewriterBase &rewriter, tensor::InsertSliceOp insertion) {
  auto op = insertion.getSource().getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumDpsInits() != 1 || op.getNumLoops() != op.getNumParallelLoops() || !op->hasOneUse() ||
      !op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
    return;
  OpOperand &init = *op.getDpsInitOperand(0);
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto slice = input->get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || slice.getSource() != insertion.getDest() || slice.getType() != insertion.getSourceType() ||
        !slice.isSameAs(insertion, [](OpFoldResult a, OpFoldResult b) { return a == b; }) ||
        op.getMatchingIndexingMap(input) != op.getMatchingIndexingMap(&init))
      continue;
    rewriter.modifyOpInPlace(op, [&] { init.set(slice.getResult()); });
    return;
  }
}

void prepare::computePartsInPlace(RewriterBase &rewriter, ArrayRef<tensor::InsertSliceOp> insertions) {
  for (tensor::InsertSliceOp insertion : insertions)
    computeInPlace(rewriter, insertion);
}

void prepare::computePartsInPlace(RewriterBase &rewriter, Operation *root) {
  root->walk([&](tensor::InsertSliceOp insertion) {
    auto op = insertion.getSource().getDefiningOp<linalg::LinalgOp>();
    if (op && !readsOthers(op, insertion.getDest(), insertion))
      computeInPlace(rewriter, insertion);
  });
}

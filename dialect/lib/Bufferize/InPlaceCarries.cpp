// array-in-place-carries: brings loops over tensors into the form in which bufferization updates the carry in place,
// and conditionals into the form in which their branches write one buffer. It runs after fusion, because it inserts
// operations between producers and consumers, and before empty tensors are eliminated.
#include "InPlaceCarries.h"
#include "array/Bufferize/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::array {

#define GEN_PASS_DEF_INPLACECARRIES
#include "array/Bufferize/Passes.h.inc"

using prepare::derivedFrom;
using prepare::isReadBefore;
using prepare::originsOf;
using prepare::startOf;
using prepare::Update;
using prepare::updatesOf;
using prepare::viewedTensor;

namespace {

//===--- Destinations ---------------------------------------------------------------------------------------------===//

/// Whether the op is a loop or a conditional of the program. Loops of lowered ops do not count.
bool isControlFlow(Operation *op) { return isa<scf::WhileOp>(op) || op->hasAttr(kControlFlowAttr); }

void startWithCopy(RewriterBase &rewriter, OpOperand &init) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(init.getOwner());
  auto type = cast<RankedTensorType>(init.get().getType());
  init.set(bufferization::AllocTensorOp::create(rewriter, init.getOwner()->getLoc(), type, ValueRange(), init.get()));
}

/// Whether an update is computed in place of the current value: by insertions and similar ops, or by an inner loop that
/// starts with it. The current value must have no later reads. If it has some, an inner loop gets a copy to start with.
bool isUpdatedInPlace(RewriterBase &rewriter, const Update &update, Operation *yield) {
  OpOperand *init = nullptr;
  bool isAlone = isReadBefore(update.next, yield);
  for (Value value = update.next; value != update.current;) {
    auto result = dyn_cast<OpResult>(value);
    value = result ? startOf(result, init) : Value();
    if (!value)
      return false;
    Operation *owner = result.getOwner();
    isAlone &= owner->getBlock() == yield->getBlock() && isReadBefore(value, owner) &&
               llvm::count(owner->getOperands(), value) <= 1;
  }
  if (init && !isAlone)
    startWithCopy(rewriter, *init);
  return isAlone;
}

/// Gives an inner loop a copy if it starts with the current value but does not compute the next one.
void separateInnerLoops(RewriterBase &rewriter, const Update &update, Block &body) {
  for (Operation &inner : body) {
    if (!isa<scf::WhileOp, scf::ForOp>(inner) || !isControlFlow(&inner))
      continue;
    for (OpOperand &init : inner.getOpOperands()) {
      OpOperand *nested = nullptr;
      Value value = init.get();
      while (value != update.current &&
             isa_and_nonnull<scf::IfOp, scf::ForOp, DestinationStyleOpInterface>(value.getDefiningOp())) {
        Value start = startOf(cast<OpResult>(value), nested);
        if (!start)
          break;
        value = start;
      }
      if (value == update.current)
        startWithCopy(rewriter, init);
    }
  }
}

/// The op of a block with the first read of the value, if only ops of the block and of their regions read it.
Operation *firstReader(Block &block, Operation *op) {
  Operation *first = block.getTerminator();
  for (Operation *user : op->getUsers())
    if (Operation *inBlock = block.findAncestorOpInBlock(*user); inBlock->isBeforeInBlock(first))
      first = inBlock;
  return first;
}

/// Orders the body so that the carry is read before it changes. A slice of a result is written as soon as it is
/// available, because it may be the previous carry. A value that becomes the carry is computed when it is needed.
void orderUpdates(ArrayRef<Update> updates, Block &body) {
  SmallVector<Operation *> late;
  for (const Update &update : updates) {
    Operation *op = update.next.getDefiningOp();
    if (!op || op->getBlock() != &body || !isMemoryEffectFree(op))
      continue;
    if (!isa<tensor::InsertSliceOp, tensor::InsertOp>(op) || !update.current.hasOneUse()) {
      late.push_back(op);
      continue;
    }
    Operation *after = nullptr;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == &body)
        after = after && definition->isBeforeInBlock(after) ? after : definition;
    if (after)
      op->moveAfter(after);
  }
  llvm::sort(late, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  late.erase(llvm::unique(late), late.end());
  Operation *last = body.getTerminator();
  for (Operation *op : late) {
    Operation *reader = firstReader(body, op);
    bool isYielded = reader == body.getTerminator();
    op->moveBefore(isYielded ? last : reader);
    if (isYielded)
      last = op;
  }
}

/// Decides which updates are computed at their destination, and gives the others separate memory. `updates` are in the
/// order of their writes: a later one must not read memory that an earlier one writes.
void placeUpdates(RewriterBase &rewriter, MutableArrayRef<Update> updates) {
  llvm::SetVector<Value> readLater;
  for (const Update &update : llvm::reverse(updates)) {
    llvm::SetVector<Value> origins = originsOf(update.next);
    bool isFree = llvm::none_of(origins, [&](Value origin) { return readLater.contains(origin); });
    for (Value origin : origins) {
      auto empty = origin.getDefiningOp<tensor::EmptyOp>();
      if (!empty || !update.yielded->getOwner()->getParentRegion()->isAncestor(empty->getParentRegion()) ||
          (isFree && (empty.getType() != update.current.getType() || !empty->hasOneUse())))
        continue;
      rewriter.setInsertionPoint(empty);
      Value place = update.current;
      SmallVector<OpOperand *> ofSlices;
      if (!isFree || prepare::isReadAfterItsPart(update.current, empty, ofSlices))
        place =
            bufferization::AllocTensorOp::create(rewriter, empty.getLoc(), empty.getType(), empty.getDynamicSizes());
      // A tensor without elements is always empty, and may be the next carry itself.
      for (Update &other : updates)
        if (other.next == empty.getResult())
          other.next = place;
      Block *block = empty->use_empty() ? nullptr : empty->user_begin()->getBlock();
      SmallVector<tensor::InsertSliceOp> insertions = prepare::insertionsFrom(empty, block);
      rewriter.replaceOp(empty, place);
      if (place == update.current) {
        prepare::readFromInsertions(rewriter, insertions, ofSlices);
        prepare::computePartsInPlace(rewriter, insertions);
      }
    }
    readLater.insert_range(origins);
  }
}

/// Whether a loop or insertions compute the next tensor in the memory of the current one. To bufferization, one more
/// write there would conflict with their reads.
bool isComputedInPlaceOf(Value next, Value current) {
  if (!next.getDefiningOp() || !isa<scf::ForOp, scf::WhileOp, tensor::InsertSliceOp>(next.getDefiningOp()))
    return false;
  OpOperand *init = nullptr;
  while (next != current && next && next.getDefiningOp())
    next = startOf(cast<OpResult>(next), init);
  return next == current;
}

/// Writes each next tensor to the current one, at the end of a block. If one current tensor is the next value of
/// another carry, it is overwritten later. In a cycle of such carries, a copy is kept.
void writeUpdates(RewriterBase &rewriter, SmallVector<Update> pending, Operation *yield) {
  rewriter.setInsertionPoint(yield);
  SmallVector<llvm::SetVector<Value>> origins =
      llvm::map_to_vector(pending, [](const Update &u) { return originsOf(u.next); });
  SmallVector<unsigned> left = llvm::to_vector(llvm::seq<unsigned>(0, pending.size()));
  auto keptCopy = [&](unsigned index) {
    Update &update = pending[index];
    auto type = cast<RankedTensorType>(update.next.getType());
    update.next = bufferization::AllocTensorOp::create(rewriter, yield->getLoc(), type, ValueRange(), update.next);
    origins[index] = originsOf(update.next);
  };
  auto readsFrom = [&](unsigned reader, unsigned other) {
    return reader != other && origins[reader].contains(pending[other].current);
  };
  SmallVector<Update> ordered;
  while (!left.empty()) {
    auto *chosen = llvm::find_if_not(left, [&](unsigned index) {
      return llvm::any_of(left, [&](unsigned other) { return readsFrom(other, index); });
    });
    if (chosen == left.end()) {
      chosen = left.begin();
      for (unsigned other : left)
        if (readsFrom(other, *chosen))
          keptCopy(other);
    }
    if (viewedTensor(pending[*chosen].next) == pending[*chosen].current)
      keptCopy(*chosen);
    ordered.push_back(pending[*chosen]);
    left.erase(chosen);
  }
  placeUpdates(rewriter, ordered);
  rewriter.setInsertionPoint(yield);
  for (Update &update : ordered) {
    Value written = update.current;
    if (isComputedInPlaceOf(update.next, update.current))
      written = update.next;
    else if (update.next != update.current)
      written = bufferization::MaterializeInDestinationOp::create(rewriter, yield->getLoc(), update.next.getType(),
                                                                  update.next, update.current)
                    .getResult();
    update.yielded->set(written);
  }
}

/// Computes the next carry in the buffers of the current one, or copies it there. Otherwise bufferization would give
/// each iteration separate buffers.
void updateInPlace(RewriterBase &rewriter, Operation *loop) {
  Block &body = loop->getRegions().back().front();
  Operation *yield = body.getTerminator();
  SmallVector<Update> pending, updates = updatesOf(loop);
  orderUpdates(updates, body);
  for (const Update &update : updates) {
    if (update.next != update.current && isUpdatedInPlace(rewriter, update, yield))
      continue;
    separateInnerLoops(rewriter, update, body);
    if (update.next == update.current)
      continue;
    pending.push_back(update);
  }
  writeUpdates(rewriter, pending, yield);
}

//===--- Conditionals ---------------------------------------------------------------------------------------------===//

/// The outside tensor in whose place a branch computes the yielded value.
Value startOutside(Value value, Region &branch) {
  OpOperand *init = nullptr;
  while (value && branch.isAncestor(value.getParentRegion()))
    value = value.getDefiningOp() ? startOf(cast<OpResult>(value), init) : Value();
  return value;
}

/// The tensor that the branches write: the destination of the result, if it is known and not read after the branches,
/// else a new one. (Not an empty tensor: only one of its uses would be eliminated.)
Value destinationOf(RewriterBase &rewriter, scf::IfOp branch, OpResult result) {
  rewriter.setInsertionPoint(branch);
  Location loc = branch.getLoc();
  auto type = cast<RankedTensorType>(result.getType());
  auto written = result.hasOneUse() ? dyn_cast<bufferization::MaterializeInDestinationOp>(*result.user_begin())
                                    : bufferization::MaterializeInDestinationOp();
  if (written && written.getSource() == result) {
    Value destination = written.getDest();
    if (isa<MemRefType>(destination.getType()))
      return bufferization::ToTensorOp::create(rewriter, loc, type, destination, /*restrict=*/true, /*writable=*/true);
    // No value that may share its memory is read after the branches.
    bool isFree = llvm::all_of(derivedFrom(destination, branch), [&](Value value) {
      return llvm::all_of(value.getUsers(), [&](Operation *user) {
        Operation *inBlock = branch->getBlock()->findAncestorOpInBlock(*user);
        return user == written || (inBlock && !branch->isBeforeInBlock(inBlock)) ||
               (isa<scf::YieldOp>(user) && value == written->getResult(0));
      });
    });
    Operation *definition = destination.getDefiningOp();
    if (isFree && !isa_and_nonnull<tensor::EmptyOp>(definition) &&
        (!definition || (definition->getBlock() == branch->getBlock() && definition->isBeforeInBlock(branch))))
      return destination;
  }
  return bufferization::AllocTensorOp::create(rewriter, loc, type, ValueRange());
}

/// The branches write one tensor, or change one in place that has no later reads. Otherwise bufferization would give
/// each branch a buffer, and copy the chosen one.
void shareDestinations(RewriterBase &rewriter, scf::IfOp branch) {
  SmallVector<Update> taken, other;
  for (OpResult result : branch.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape())
      continue;
    OpOperand &ifTrue = branch.thenYield()->getOpOperand(result.getResultNumber());
    OpOperand &ifFalse = branch.elseYield()->getOpOperand(result.getResultNumber());
    Value start = startOutside(ifTrue.get(), branch.getThenRegion());
    if (start && start == startOutside(ifFalse.get(), branch.getElseRegion()) && isReadBefore(start, branch))
      continue;
    Value destination = destinationOf(rewriter, branch, result);
    taken.push_back({&ifTrue, destination, ifTrue.get()});
    other.push_back({&ifFalse, destination, ifFalse.get()});
  }
  for (auto [updates, yield] : {std::pair(&taken, branch.thenYield()), std::pair(&other, branch.elseYield())}) {
    llvm::erase_if(*updates, [](const Update &update) { return update.next == update.current; });
    writeUpdates(rewriter, *updates, yield);
  }
}

/// A carry that starts as an argument starts as a copy of it, since arguments are never written.
void copyArguments(RewriterBase &rewriter, Operation *loop) {
  rewriter.setInsertionPoint(loop);
  for (OpOperand &init : loop->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(init.get().getType());
    if (!type || !type.hasStaticShape() || !init.get().getDefiningOp<bufferization::ToTensorOp>())
      continue;
    Value empty = tensor::EmptyOp::create(rewriter, loop->getLoc(), type.getShape(), type.getElementType());
    auto copy = bufferization::MaterializeInDestinationOp::create(rewriter, loop->getLoc(), type, init.get(), empty);
    init.set(copy.getResult());
  }
}

//===--- Copies ---------------------------------------------------------------------------------------------------===//

Value copyOf(RewriterBase &rewriter, Operation *before, Value tensor) {
  rewriter.setInsertionPoint(before);
  auto type = cast<RankedTensorType>(tensor.getType());
  return bufferization::AllocTensorOp::create(rewriter, before->getLoc(), type, ValueRange(), tensor);
}

/// Copies each next tensor, then all copies to the current ones.
void copyUpdates(RewriterBase &rewriter, SmallVector<Update> updates, Operation *yield) {
  for (Update &update : updates)
    update.next = copyOf(rewriter, yield, update.next);
  rewriter.setInsertionPoint(yield);
  for (Update &update : updates)
    update.yielded->set(bufferization::MaterializeInDestinationOp::create(
                            rewriter, yield->getLoc(), update.next.getType(), update.next, update.current)
                            .getResult());
}

void copyInits(RewriterBase &rewriter, MutableOperandRange inits) {
  for (OpOperand &init : inits)
    if (isa<RankedTensorType>(init.get().getType()))
      init.set(copyOf(rewriter, init.getOwner(), init.get()));
}

/// Copies the initial values, yields and results of loops and branches, so that no two of them share memory.
void separate(RewriterBase &rewriter, func::FuncOp function) {
  // Takes the outermost one of the loops and conditionals of a lowered op.
  auto isOutermost = [](Operation *op) {
    Operation *parent = op->getParentOp();
    return isa<func::FuncOp>(parent) || isControlFlow(parent);
  };
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      copyUpdates(rewriter, prepare::updatesOf(op), loop.getYieldOp());
      copyInits(rewriter, loop.getInitsMutable());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (isControlFlow(op))
        copyUpdates(rewriter, prepare::updatesOf(op), loop.getBody()->getTerminator());
      if (isControlFlow(op) || isOutermost(op))
        copyInits(rewriter, loop.getInitArgsMutable());
    } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && (isControlFlow(op) || isOutermost(op))) {
      SmallVector<Update> taken, other;
      for (OpResult result : branch.getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (!type)
          continue;
        rewriter.setInsertionPoint(branch);
        Value place = bufferization::AllocTensorOp::create(rewriter, branch.getLoc(), type, ValueRange());
        OpOperand &ifTrue = branch.thenYield()->getOpOperand(result.getResultNumber());
        OpOperand &ifFalse = branch.elseYield()->getOpOperand(result.getResultNumber());
        taken.push_back({&ifTrue, place, ifTrue.get()});
        other.push_back({&ifFalse, place, ifFalse.get()});
      }
      if (taken.empty())
        return;
      copyUpdates(rewriter, taken, branch.thenYield());
      copyUpdates(rewriter, other, branch.elseYield());
    }
  });
}

struct InPlaceCarries : impl::InPlaceCarriesBase<InPlaceCarries> {
  using InPlaceCarriesBase::InPlaceCarriesBase;

  void runOnOperation() override {
    SmallVector<Operation *> found; // inner ones first
    getOperation().walk([&](Operation *op) {
      if (isa<scf::WhileOp, scf::ForOp, scf::IfOp>(op) && isControlFlow(op))
        found.push_back(op);
    });
    if (found.empty())
      return;
    IRRewriter rewriter(&getContext());
    for (Operation *op : found)
      prepare::carryScalars(rewriter, op);

    RewritePatternSet patterns(&getContext());
    prepare::populateScalars(patterns);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    // Stopping before a fixed point is not a failure: the remaining ops compute the same in buffers.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);

    if (copyCarries)
      return separate(rewriter, getOperation());
    SmallVector<Operation *> loops;
    getOperation().walk([&](Operation *op) {
      if (isa<scf::WhileOp, scf::ForOp>(op) && isControlFlow(op))
        loops.push_back(op);
    });
    for (Operation *op : loops) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        prepare::unrollRotations(rewriter, loop);
      else
        prepare::unrollTurns(rewriter, cast<scf::WhileOp>(op));
    }
    getOperation().walk([&](Operation *op) {
      if (isa<scf::WhileOp, scf::ForOp, scf::IfOp>(op) && isControlFlow(op))
        prepare::readBeforeWrites(rewriter, op);
      if (!isa<scf::WhileOp, scf::ForOp>(op) || !isControlFlow(op))
        return;
      prepare::accumulateInPlace(rewriter, op);
      updateInPlace(rewriter, op);
      copyArguments(rewriter, op);
    });
    // Outer ones first: their destinations determine those of inner ones.
    getOperation().walk<WalkOrder::PreOrder>([&](scf::IfOp branch) {
      if (isControlFlow(branch))
        shareDestinations(rewriter, branch);
    });
  }
};

} // namespace
} // namespace mlir::array

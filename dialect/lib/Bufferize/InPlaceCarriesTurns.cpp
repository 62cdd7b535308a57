// The part of array-in-place-carries for carries whose elements are computed from their neighbours: x = f(x), or
// x = x.at[1:-1].set(f(x)). The next value can't be computed in the memory of x, so each step would compute it in a
// buffer and copy it. Instead, two buffers take turns: of two steps, the first writes the second buffer, and the second
// step writes the first one. Of a loop with a condition, the second step is a branch; if the loop ends after the first
// step, the other branch copies its result.
//
// If a step sets only parts of x, the second buffer needs the other elements, too. It starts as a copy of x, and steps
// set the same parts, so the others stay equal.
#include "InPlaceCarries.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::array::prepare {

namespace {

int64_t elementsOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getNumElements(); }

/// Whether a value is the result of an elementwise op.
bool isElementwise(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  return op && op.getNumLoops() == op.getNumParallelLoops() && op.getNumDpsInits() == 1 &&
         op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>();
}

} // namespace

bool readsOthers(linalg::LinalgOp op, Value current, tensor::InsertSliceOp insertion) {
  if (!isElementwise(op->getResult(0)))
    return false;
  AffineMap own = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (viewedTensor(value) != current || elementsOf(value) * kLeastParts < elementsOf(op->getResult(0)))
      continue;
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    bool isOwn = insertion ? slice && slice.getSource() == current && slice.getType() == insertion.getSourceType() &&
                                 slice.isSameAs(insertion, [](OpFoldResult a, OpFoldResult b) { return a == b; })
                           : value == current;
    if (!isOwn || op.getMatchingIndexingMap(input) != own)
      return true;
  }
  WalkResult gathers = op.getBlock()->walk([&](tensor::ExtractOp element) {
    return viewedTensor(element.getTensor()) == current ? WalkResult::interrupt() : WalkResult::advance();
  });
  return gathers.wasInterrupted();
}

namespace {

/// The next value of a carry: insertions into a tensor, in their order.
struct Parts {
  SmallVector<tensor::InsertSliceOp> insertions;
  Value start; ///< The tensor that the first one changes; without any, the next value.
};

Parts partsOf(const Update &update) {
  Parts parts{{}, update.next};
  Block *body = update.yielded->getOwner()->getBlock();
  for (auto insertion = parts.start.getDefiningOp<tensor::InsertSliceOp>();
       insertion && insertion->getBlock() == body && insertion.getDest() != insertion.getSource();
       insertion = parts.start.getDefiningOp<tensor::InsertSliceOp>()) {
    parts.insertions.push_back(insertion);
    parts.start = insertion.getDest();
  }
  std::reverse(parts.insertions.begin(), parts.insertions.end());
  return parts;
}

bool anyReadsOthers(const Parts &parts, Value current) {
  auto reads = [&](Value computed, tensor::InsertSliceOp insertion) {
    auto op = computed.getDefiningOp<linalg::LinalgOp>();
    return op && op->getParentRegion() == current.getParentRegion() && readsOthers(op, current, insertion);
  };
  if (parts.insertions.empty())
    return reads(parts.start, {});
  return llvm::any_of(parts.insertions,
                      [&](tensor::InsertSliceOp insertion) { return reads(insertion.getSource(), insertion); });
}

/// Whether an op reads both the current value and the next one, such as the error of an iteration.
bool areReadTogether(const Update &update) {
  return llvm::any_of(update.next.getUsers(), [&](Operation *user) {
    return isa<linalg::LinalgOp>(user) && llvm::any_of(user->getOperands(), [&](Value operand) {
             return isa<RankedTensorType>(operand.getType()) && viewedTensor(operand) == update.current;
           });
  });
}

/// Whether each step changes the same elements.
bool isSteady(LoopLikeOpInterface loop, tensor::InsertSliceOp insertion) {
  auto isKnown = [&](OpFoldResult number) {
    return getConstantIntValue(number) || loop.isDefinedOutsideOfLoop(cast<Value>(number));
  };
  return llvm::all_of(insertion.getMixedOffsets(), isKnown) && llvm::all_of(insertion.getMixedSizes(), isKnown) &&
         llvm::all_of(insertion.getMixedStrides(), isKnown);
}

/// The slices that are read between the insertions, of elements that a later insertion changes: there, the second
/// buffer has those of the step before. None if something else than slices is read, or if they are not small.
std::optional<SmallVector<tensor::ExtractSliceOp>> readsBetween(LoopLikeOpInterface loop, const Parts &parts) {
  SmallVector<tensor::ExtractSliceOp> early;
  int64_t elements = 0;
  for (size_t i = 0; i + 1 < parts.insertions.size(); ++i) {
    tensor::InsertSliceOp insertion = parts.insertions[i], next = parts.insertions[i + 1];
    auto later = ArrayRef(parts.insertions).drop_front(i + 1);
    for (Operation *user : insertion->getUsers()) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      if (user == next && next.getSource() != insertion.getResult())
        continue;
      if (!slice || !slice.getType().hasStaticShape() || !llvm::all_of(slice.getOperands().drop_front(), [&](Value v) {
            return getConstantIntValue(v) || loop.isDefinedOutsideOfLoop(v);
          }))
        return std::nullopt;
      if (llvm::all_of(later, [&](tensor::InsertSliceOp other) { return areDisjoint(slice, other); }))
        continue;
      early.push_back(slice);
      elements += slice.getType().getNumElements();
    }
  }
  if (elements * kLeastParts > elementsOf(parts.start))
    return std::nullopt;
  return early;
}

/// A carry for which two buffers take turns.
struct Turn {
  unsigned number, argument;   ///< The numbers of the carry and of its argument of the body.
  tensor::InsertSliceOp first; ///< If steps set parts of the value: the first insertion.
  SmallVector<tensor::ExtractSliceOp> early;
};

std::optional<Turn> turnOf(LoopLikeOpInterface loop, const Update &update) {
  Turn turn{update.yielded->getOperandNumber(), cast<BlockArgument>(update.current).getArgNumber(), {}, {}};
  Parts parts = partsOf(update);
  if (!anyReadsOthers(parts, update.current) && !areReadTogether(update))
    return std::nullopt;
  if (parts.start != update.current) {
    // A new value. (Of others than elementwise ops, the copy takes little of the time.)
    bool isNew =
        parts.insertions.empty() ? isElementwise(parts.start) : bool(parts.start.getDefiningOp<tensor::EmptyOp>());
    return isNew ? std::optional(turn) : std::nullopt;
  }
  if (!llvm::all_of(parts.insertions, [&](tensor::InsertSliceOp each) { return isSteady(loop, each); }))
    return std::nullopt;
  auto early = readsBetween(loop, parts);
  if (!early)
    return std::nullopt;
  turn.first = parts.insertions.front();
  turn.early = *early;
  return turn;
}

/// Whether a next value that is not computed in turns has a buffer of its own in each step but the last of several.
bool needsBuffer(const Update &update) {
  Region *body = update.yielded->getOwner()->getParentRegion();
  return llvm::any_of(originsOf(update.next), [&](Value origin) {
    return origin.getDefiningOp<tensor::EmptyOp>() && origin.getParentRegion() == body;
  });
}

/// A loop with a further carry, which starts as a copy of one and holds its value of the step before.
Operation *withFormer(RewriterBase &rewriter, scf::ForOp loop, const Turn &turn, Value copy) {
  DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
  auto yieldCurrent = [&](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>{added.front().getOwner()->getArgument(turn.argument)};
  };
  FailureOr<LoopLikeOpInterface> result =
      loop.replaceWithAdditionalYields(rewriter, copy, /*replaceInitOperandUsesInLoop=*/false, yieldCurrent);
  assert(succeeded(result) && "a loop of the program takes further carries");
  result->getOperation()->setDiscardableAttrs(attributes);
  return *result;
}

Operation *withFormer(RewriterBase &rewriter, scf::WhileOp loop, const Turn &turn, Value copy) {
  Location loc = loop.getLoc();
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(copy.getType());
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(copy);
  auto result = scf::WhileOp::create(rewriter, loc, types, inits);
  for (auto [from, to] : llvm::zip_equal(loop->getRegions(), result->getRegions()))
    to.takeBody(from);
  result->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  result.getConditionOp().getArgsMutable().append(result.getBeforeBody()->addArgument(copy.getType(), loc));
  result.getAfterBody()->addArgument(copy.getType(), loc);
  result.getYieldOp().getResultsMutable().append(ValueRange{result.getAfterBody()->getArgument(turn.argument)});
  rewriter.replaceOp(loop, result.getResults().drop_back());
  return result;
}

/// Sets the parts in a second carry.
Operation *addBuffer(RewriterBase &rewriter, Operation *loop, Turn &turn) {
  rewriter.setInsertionPoint(loop);
  auto inits = cast<LoopLikeOpInterface>(loop).getInits();
  auto type = cast<RankedTensorType>(inits[turn.number].getType());
  Value copy = bufferization::AllocTensorOp::create(rewriter, loop->getLoc(), type, ValueRange(), inits[turn.number]);
  if (auto counting = dyn_cast<scf::ForOp>(loop))
    loop = withFormer(rewriter, counting, turn, copy);
  else
    loop = withFormer(rewriter, cast<scf::WhileOp>(loop), turn, copy);
  Block &body = loop->getRegions().back().front();
  Value current = body.getArgument(turn.argument), start = body.getArguments().back();
  rewriter.setInsertionPoint(turn.first);
  for (tensor::ExtractSliceOp slice : turn.early) {
    Location loc = slice.getLoc();
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                              strides = slice.getMixedStrides();
    Value elements = tensor::ExtractSliceOp::create(rewriter, loc, current, offsets, sizes, strides);
    start = tensor::InsertSliceOp::create(rewriter, loc, elements, start, offsets, sizes, strides);
  }
  rewriter.modifyOpInPlace(turn.first, [&] { turn.first.getDestMutable().assign(start); });
  return loop;
}

} // namespace

Operation *takeTurns(RewriterBase &rewriter, Operation *loop, int64_t leastElements,
                     SmallVectorImpl<unsigned> &formers) {
  SmallVector<Update> updates = updatesOf(loop);
  SmallVector<Turn> turns;
  int64_t inTurns = 0, others = 0;
  for (const Update &update : updates) {
    auto type = cast<RankedTensorType>(update.current.getType());
    if (update.next == update.current || !type.hasStaticShape() || type.getNumElements() < leastElements)
      continue;
    // If the value is handed on to another carry, that carry's memory is the second buffer.
    bool isHandedOn = llvm::any_of(updates, [&](const Update &other) { return other.next == update.current; });
    std::optional<Turn> turn = isHandedOn ? std::nullopt : turnOf(cast<LoopLikeOpInterface>(loop), update);
    int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
    if (turn) {
      inTurns += bits;
      turns.push_back(*turn);
    } else if (needsBuffer(update)) {
      others += bits;
    }
  }
  // Those that are computed in place now would be read and written in different buffers.
  if (turns.empty() || others > inTurns)
    return nullptr;
  for (Turn &turn : turns) {
    if (!turn.first)
      continue;
    loop = addBuffer(rewriter, loop, turn);
    formers.push_back(turn.number);
  }
  return loop;
}

} // namespace mlir::array::prepare

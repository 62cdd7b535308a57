// The part of array-in-place-carries for carries whose elements are computed from their neighbours: x = f(x), or
// x = x.at[1:-1].set(f(x)). The next value can't be computed in the memory of x, so each step would compute it in a
// buffer and copy it. Instead, two buffers take turns: of two steps, the first writes the second buffer, and the second
// step writes the first one.
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

/// Whether an elementwise op, whose result is inserted into a part of the next value or is that value, reads elements
/// of the current one other than its own.
bool readsOthers(linalg::LinalgOp op, Value current, tensor::InsertSliceOp insertion) {
  if (op.getNumLoops() != op.getNumParallelLoops() || op.getNumDpsInits() != 1 ||
      !op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
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

bool readsOthers(const Parts &parts, Value current) {
  auto reads = [&](Value computed, tensor::InsertSliceOp insertion) {
    auto op = computed.getDefiningOp<linalg::LinalgOp>();
    return op && op->getParentRegion() == current.getParentRegion() && readsOthers(op, current, insertion);
  };
  if (parts.insertions.empty())
    return reads(parts.start, {});
  return llvm::any_of(parts.insertions,
                      [&](tensor::InsertSliceOp insertion) { return reads(insertion.getSource(), insertion); });
}

/// Whether each step changes the same elements.
bool isSteady(scf::ForOp loop, tensor::InsertSliceOp insertion) {
  auto isKnown = [&](OpFoldResult number) {
    return getConstantIntValue(number) || loop.isDefinedOutsideOfLoop(cast<Value>(number));
  };
  return llvm::all_of(insertion.getMixedOffsets(), isKnown) && llvm::all_of(insertion.getMixedSizes(), isKnown) &&
         llvm::all_of(insertion.getMixedStrides(), isKnown);
}

/// The slices that are read between the insertions, of elements that a later insertion changes: there, the second
/// buffer has those of the step before. None if something else than slices is read, or if they are not small.
std::optional<SmallVector<tensor::ExtractSliceOp>> readsBetween(scf::ForOp loop, const Parts &parts) {
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
  unsigned number;             ///< The number of the carry.
  tensor::InsertSliceOp first; ///< If steps set parts of the value: the first insertion.
  SmallVector<tensor::ExtractSliceOp> early;
};

std::optional<Turn> turnOf(scf::ForOp loop, const Update &update) {
  Turn turn{update.yielded->getOperandNumber(), {}, {}};
  Parts parts = partsOf(update);
  if (!readsOthers(parts, update.current))
    return std::nullopt;
  if (parts.start != update.current) {
    // A new value. (Of others than elementwise ops, the copy takes little of the time.)
    bool isNew = parts.insertions.empty() || parts.start.getDefiningOp<tensor::EmptyOp>();
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

/// Sets the parts in a second carry, which holds the value of the step before.
scf::ForOp addBuffer(RewriterBase &rewriter, scf::ForOp loop, Turn &turn) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value init = loop.getInitArgs()[turn.number];
  Value copy =
      bufferization::AllocTensorOp::create(rewriter, loc, cast<RankedTensorType>(init.getType()), ValueRange(), init);
  DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
  unsigned argument = loop.getNumInductionVars() + turn.number;
  auto yieldCurrent = [&](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>{added.front().getOwner()->getArgument(argument)};
  };
  FailureOr<LoopLikeOpInterface> replaced =
      loop.replaceWithAdditionalYields(rewriter, copy, /*replaceInitOperandUsesInLoop=*/false, yieldCurrent);
  assert(succeeded(replaced) && "a loop of the program takes further carries");
  auto result = cast<scf::ForOp>(replaced->getOperation());
  result->setDiscardableAttrs(attributes);
  Value current = result.getRegionIterArg(turn.number), start = result.getRegionIterArgs().back();
  rewriter.setInsertionPoint(turn.first);
  for (tensor::ExtractSliceOp slice : turn.early) {
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                              strides = slice.getMixedStrides();
    Value elements = tensor::ExtractSliceOp::create(rewriter, loc, current, offsets, sizes, strides);
    start = tensor::InsertSliceOp::create(rewriter, loc, elements, start, offsets, sizes, strides);
  }
  rewriter.modifyOpInPlace(turn.first, [&] { turn.first.getDestMutable().assign(start); });
  return result;
}

} // namespace

std::pair<scf::ForOp, bool> takeTurns(RewriterBase &rewriter, scf::ForOp loop, int64_t leastElements) {
  SmallVector<Update> updates = updatesOf(loop);
  SmallVector<Turn> turns;
  int64_t inTurns = 0, others = 0;
  for (const Update &update : updates) {
    auto type = cast<RankedTensorType>(update.current.getType());
    if (update.next == update.current || !type.hasStaticShape() || type.getNumElements() < leastElements)
      continue;
    // If the value is handed on to another carry, that carry's memory is the second buffer.
    bool isHandedOn = llvm::any_of(updates, [&](const Update &other) { return other.next == update.current; });
    std::optional<Turn> turn = isHandedOn ? std::nullopt : turnOf(loop, update);
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
    return {loop, false};
  for (Turn &turn : turns)
    if (turn.first)
      loop = addBuffer(rewriter, loop, turn);
  return {loop, true};
}

} // namespace mlir::array::prepare

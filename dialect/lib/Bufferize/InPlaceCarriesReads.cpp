// The part of array-in-place-carries that reads before it writes: `h.at[i].set(h[j]).at[j].set(h[i])` swaps two rows.
// The second read is of the tensor before the first insertion, so bufferization would copy the whole tensor. A small
// part that is read later is read, and copied, before the insertion.
#include "InPlaceCarries.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::array::prepare {

namespace {

/// The maximum number of operations that move with a read: those of its indices.
constexpr unsigned kMostMoved = 64;

/// The tensors of which an op writes a part: an insertion, or the loop of one that does nothing outside of the tensor.
SmallVector<Value> destinationsOf(Operation *op) {
  if (isa<tensor::InsertSliceOp, tensor::InsertOp>(op))
    return {cast<DestinationStyleOpInterface>(op).getDpsInitOperand(0)->get()};
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && !loop->hasAttr(kControlFlowAttr))
    return llvm::filter_to_vector(loop.getInitArgs(), [](Value init) { return isa<RankedTensorType>(init.getType()); });
  return {};
}

bool isSmallPart(tensor::ExtractSliceOp slice) {
  auto part = slice.getResultType(), whole = slice.getSourceType();
  return part.hasStaticShape() && whole.hasStaticShape() &&
         part.getNumElements() * kLeastParts <= whole.getNumElements();
}

/// Moves an op and the ops that it needs before `place`. False if one of them must stay.
bool moveBefore(Operation *op, Operation *place) {
  llvm::SetVector<Operation *> moved;
  SmallVector<Operation *> pending{op};
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    if (next == place || next->getNumRegions() != 0 || !isMemoryEffectFree(next) || moved.size() > kMostMoved)
      return false;
    if (!moved.insert(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && definition->getBlock() == place->getBlock() && !definition->isBeforeInBlock(place))
        pending.push_back(definition);
  }
  SmallVector<Operation *> inOrder = moved.takeVector();
  llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *each : inOrder)
    each->moveBefore(place);
  return true;
}

/// Whether a slice, or a view of it, is read after an op, or while the op writes.
bool isReadAfter(Value slice, Operation *place) {
  return llvm::any_of(slice.getUsers(), [&](Operation *user) {
    Operation *inBlock = place->getBlock()->findAncestorOpInBlock(*user);
    if (!inBlock || place->isBeforeInBlock(inBlock) || (inBlock == place && user != place))
      return true;
    bool isView = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractSliceOp>(user);
    return isView && isReadAfter(user->getResult(0), place);
  });
}

void keepReads(RewriterBase &rewriter, Operation *write, Value destination) {
  SmallVector<Operation *> users(destination.getUsers());
  for (Operation *user : users) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (user->getBlock() != write->getBlock() || !(slice ? isSmallPart(slice) : isa<tensor::ExtractOp>(user)) ||
        (write->isBeforeInBlock(user) && !moveBefore(user, write)))
      continue;
    if (!slice || !isReadAfter(slice.getResult(), write))
      continue;
    rewriter.setInsertionPointAfter(slice);
    auto copy = bufferization::AllocTensorOp::create(rewriter, slice.getLoc(), slice.getResultType(), ValueRange(),
                                                     slice.getResult());
    rewriter.replaceAllUsesExcept(slice.getResult(), copy.getResult(), copy);
  }
}

} // namespace

void readBeforeWrites(RewriterBase &rewriter, Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      SmallVector<std::pair<Operation *, Value>> writes;
      for (Operation &each : block)
        for (Value destination : destinationsOf(&each))
          if (!destination.hasOneUse())
            writes.emplace_back(&each, destination);
      for (auto [write, destination] : writes)
        keepReads(rewriter, write, destination);
    }
}

} // namespace mlir::array::prepare

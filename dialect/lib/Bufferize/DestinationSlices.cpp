// See DestinationSlices.h.
#include "DestinationSlices.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::array {

/// Between the numbers of two neighbours.
static constexpr uint64_t gap = uint64_t(1) << 32;

/// More operations than that are not moved for one value. The time would no longer be linear in the size of a program.
static constexpr size_t mostMoved = 512;

void BlockOrder::numberBlock(Block *block) {
  uint64_t next = 0;
  for (Operation &op : *block)
    numbers[&op] = next += gap;
}

uint64_t BlockOrder::number(Operation *op) {
  if (auto found = numbers.find(op); found != numbers.end())
    return found->second;
  // The neighbours that have no number either get one, too.
  uint64_t before = 0, count = 1;
  Operation *first = op, *last = op;
  for (; Operation *previous = first->getPrevNode(); first = previous, ++count)
    if (auto found = numbers.find(previous); found != numbers.end()) {
      before = found->second;
      break;
    }
  uint64_t after = before + gap * (count + 1);
  for (; Operation *next = last->getNextNode(); last = next, ++count, after += gap)
    if (auto found = numbers.find(next); found != numbers.end()) {
      after = found->second;
      break;
    }
  uint64_t step = (after - before) / (count + 1);
  if (step == 0) {
    numberBlock(op->getBlock());
    return numbers[op];
  }
  for (Operation *each = first; count; each = each->getNextNode(), --count)
    numbers[each] = before += step;
  return numbers[op];
}

bool BlockOrder::isAvailable(Operation *op, Operation *point) {
  Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*point);
  return ancestor && isBefore(op, ancestor);
}

void BlockOrder::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) { numbers.erase(op); }

namespace {

bool isAvailable(BlockOrder &order, Value value, Operation *point) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->findAncestorOpInBlock(*point);
  return order.isAvailable(value.getDefiningOp(), point);
}

/// Moves the definitions of `values` before `point`, with the operations that they need. Moves nothing if one has
/// side effects, needs `point`, or stands in another block.
bool moveBefore(RewriterBase &rewriter, BlockOrder &order, ArrayRef<Value> values, Operation *point) {
  llvm::SetVector<Operation *> moved;
  auto need = [&](Value value) {
    if (isAvailable(order, value, point))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || op == point || op->getBlock() != point->getBlock() || moved.size() == mostMoved || !isPure(op))
      return false;
    moved.insert(op);
    return true;
  };
  if (!llvm::all_of(values, need))
    return false;
  for (size_t i = 0; i < moved.size(); ++i) {
    Operation *op = moved[i];
    WalkResult needed = op->walk([&](Operation *nested) {
      bool areMovable = llvm::all_of(nested->getOperands(), [&](Value operand) {
        return op->isAncestor(operand.getParentBlock()->getParentOp()) || need(operand);
      });
      return areMovable ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (needed.wasInterrupted())
      return false;
  }
  SmallVector<Operation *> inOrder = moved.takeVector();
  llvm::sort(inOrder, [&](Operation *op, Operation *other) { return order.isBefore(op, other); });
  for (Operation *op : inOrder)
    rewriter.moveOpBefore(op, point);
  return true;
}

} // namespace

Value sliceOfDestination(RewriterBase &rewriter, BlockOrder &order, SubsetInsertionOpInterface insertion,
                         tensor::EmptyOp empty, Operation *user) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Value> needed = insertion.getValuesNeededToBuildSubsetExtraction();
  // At the empty tensor, or after the last value that is needed.
  SmallVector<Operation *> places = {empty};
  for (Value value : needed)
    places.push_back(isa<BlockArgument>(value) ? &value.getParentBlock()->front()
                                               : value.getDefiningOp()->getNextNode());
  auto *place = llvm::find_if(places, [&](Operation *at) {
    Operation *ancestor = at->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && !order.isBefore(ancestor, at) &&
           llvm::all_of(needed, [&](Value value) { return isAvailable(order, value, at); });
  });
  if (place == places.end() && !moveBefore(rewriter, order, needed, user))
    return {};
  rewriter.setInsertionPoint(place == places.end() ? user : *place);
  return insertion.buildSubsetExtraction(rewriter, empty.getLoc());
}

} // namespace mlir::array

// Follows buffers forward through views, loops and branches (BufferUses.h). array-plan-memory and array-reuse-buffers
// get lifetimes from it, and array-forward-copies gets writes. It visits only values that are reachable from a buffer.
#include "BufferUses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

/// Adds the values that hold the buffer after an operation that takes it as an operand.
static void passOn(OpOperand &use, llvm::SetVector<Value> &views) {
  Operation *user = use.getOwner();
  auto addIfBuffer = [&](Value value) {
    if (isa<BaseMemRefType>(value.getType()))
      views.insert(value);
  };
  unsigned number = use.getOperandNumber();
  if (isa<scf::YieldOp>(user)) {
    Operation *parent = user->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      addIfBuffer(loop.getBeforeArguments()[number]);
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      addIfBuffer(loop.getRegionIterArg(number));
    addIfBuffer(parent->getResult(number));
  } else if (auto condition = dyn_cast<scf::ConditionOp>(user)) {
    auto loop = cast<scf::WhileOp>(user->getParentOp());
    addIfBuffer(loop.getResult(number - 1)); // after the condition itself
    addIfBuffer(loop.getAfterArguments()[number - 1]);
  } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
    addIfBuffer(loop.getTiedLoopRegionIterArg(&use));
    addIfBuffer(loop.getTiedLoopResult(&use));
  } else if (auto loop = dyn_cast<scf::WhileOp>(user)) {
    addIfBuffer(loop.getBeforeArguments()[number]);
  } else {
    // Views, and any other result that may be the buffer, for example that of arith.select.
    for (Value result : user->getResults())
      addIfBuffer(result);
  }
}

llvm::SetVector<Value> viewsOf(Value buffer) {
  llvm::SetVector<Value> views;
  views.insert(buffer);
  for (size_t next = 0; next < views.size(); ++next)
    for (OpOperand &use : Value(views[next]).getUses())
      passOn(use, views);
  return views;
}

BlockUses usesIn(Block &block, Value buffer) {
  BlockUses uses;
  for (Value view : viewsOf(buffer)) {
    for (Operation *user : view.getUsers()) {
      Operation *inBlock = block.findAncestorOpInBlock(*user);
      if (!inBlock || (user == inBlock && user->hasTrait<OpTrait::IsTerminator>())) {
        uses.isLocal = false;
        continue;
      }
      if (user == inBlock && isa<ViewLikeOpInterface>(user))
        continue;
      if (!uses.first || inBlock->isBeforeInBlock(uses.first))
        uses.first = inBlock;
      if (!uses.last || uses.last->isBeforeInBlock(inBlock))
        uses.last = inBlock;
    }
  }
  return uses;
}

Value viewedBuffer(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
}

bool isMemoryOfItsOwn(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return root.getDefiningOp<memref::AllocOp>() != nullptr;
}

/// Whether a value is a buffer that may share memory with `root`.
static bool reaches(Value value, Value root) {
  if (!isa<BaseMemRefType>(value.getType()))
    return false;
  Value buffer = viewedBuffer(value);
  return buffer == root || !isMemoryOfItsOwn(buffer);
}

bool mayUseMemory(Operation *op, Value root) {
  return op
      ->walk([&](Operation *inner) {
        bool touches = !isa<ViewLikeOpInterface>(inner) &&
                       llvm::any_of(inner->getOperands(), [&](Value value) { return reaches(value, root); });
        return touches ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool mayWriteMemory(Operation *op, Value root) {
  if (isa<memref::AllocOp, memref::LoadOp>(op) || isMemoryEffectFree(op))
    return false;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return reaches(copy.getTarget(), root);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return llvm::any_of(linalgOp.getDpsInits(), [&](Value value) { return reaches(value, root); });
  return mayUseMemory(op, root);
}

} // namespace mlir::array

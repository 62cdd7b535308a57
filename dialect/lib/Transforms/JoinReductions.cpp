// array-join-reductions: small sums among participants, those of a tree of gradients for example, become one: a message
// costs more than its bytes. Runs on the array dialect with calls inlined; array-expand-collectives (GPUs) and
// convert-array-to-linalg follow.
#include "array/IR/Array.h"
#include "array/IR/Bytes.h"
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::array {

#define GEN_PASS_DEF_JOINREDUCTIONS
#include "array/Transforms/Passes.h.inc"

namespace {

constexpr int64_t kMostBytes = 64 << 10, kMostTogether = 1 << 20;

RankedTensorType typeOf(AllReduceOp op) { return cast<RankedTensorType>(op.getOperand().getType()); }

int64_t bytesOf(AllReduceOp op) { return typeOf(op).getNumElements() * bytesOfElement(typeOf(op).getElementType()); }

bool isSmall(AllReduceOp op) {
  return typeOf(op).hasStaticShape() && typeOf(op).getNumElements() > 0 && bytesOf(op) <= kMostBytes;
}

bool areAlike(AllReduceOp a, AllReduceOp b) {
  return a.getKind() == b.getKind() && a.getGroups() == b.getGroups() &&
         typeOf(a).getElementType() == typeOf(b).getElementType();
}

/// Whether an operation, or one within it, uses one of the results.
bool usesAny(Operation *op, const DenseSet<Value> &results) {
  return op
      ->walk([&](Operation *inner) {
        bool uses = llvm::any_of(inner->getOperands(), [&](Value value) { return results.contains(value); });
        return uses ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// One reduction in place of several, at the place of the last.
void join(ArrayRef<AllReduceOp> ops) {
  if (ops.size() < 2)
    return;
  AllReduceOp last = ops.back();
  ImplicitLocOpBuilder b(last.getLoc(), last);
  Type element = typeOf(last).getElementType();
  SmallVector<Value> flat;
  for (AllReduceOp op : ops) {
    auto type = RankedTensorType::get({typeOf(op).getNumElements()}, element);
    flat.push_back(ReshapeOp::create(b, type, op.getOperand(), ValueRange()));
  }
  Value all = ConcatenateOp::create(b, flat, 0);
  Value sums = AllReduceOp::create(b, all, last.getKind(), last.getGroups());
  int64_t start = 0;
  for (AllReduceOp op : ops) {
    int64_t end = start + typeOf(op).getNumElements(), step = 1;
    Value part = SliceOp::create(b, sums, ArrayRef<int64_t>(start), ArrayRef<int64_t>(end), ArrayRef<int64_t>(step),
                                 ValueRange());
    op.replaceAllUsesWith(ReshapeOp::create(b, typeOf(op), part, ValueRange()).getResult());
    start = end;
  }
  for (AllReduceOp op : ops)
    op->erase();
}

/// Joins the reductions of a block.
void joinIn(Block &block) {
  // The open ones, all alike; their bytes and their results.
  SmallVector<AllReduceOp> open;
  DenseSet<Value> results;
  int64_t bytes = 0;
  auto close = [&] {
    join(open);
    open.clear();
    results.clear();
    bytes = 0;
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto reduction = dyn_cast<AllReduceOp>(op);
    bool joins = reduction && isSmall(reduction);
    bool closes =
        joins ? !open.empty() && (!areAlike(open.front(), reduction) || bytes + bytesOf(reduction) > kMostTogether)
              : !isMemoryEffectFree(&op);
    if (closes || usesAny(&op, results))
      close();
    if (!joins)
      continue;
    open.push_back(reduction);
    results.insert(reduction.getResult());
    bytes += bytesOf(reduction);
  }
  close();
}

struct JoinReductions : impl::JoinReductionsBase<JoinReductions> {
  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation().walk([&](AllReduceOp op) { blocks.insert(op->getBlock()); });
    for (Block *block : blocks)
      joinIn(*block);
  }
};

} // namespace
} // namespace mlir::array

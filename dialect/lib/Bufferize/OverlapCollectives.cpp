// array-overlap-collectives: a collective runs while the program computes independent values. Runs on buffers, after
// array-forward-stores, while operations are whole; array-reuse-buffers and array-plan-memory follow, which see the
// memory in use until the wait. The runtime's side is runtime/lib/collective/StartedCollectives.cpp.
#include "Analysis/BufferUses.h"
#include "array/Bufferize/Passes.h"
#include "array/IR/Array.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "array/Bufferize/Passes.h.inc"

namespace {

constexpr StringLiteral kCollective = "collective", kStart = "collective_start", kWait = "collective_wait";

/// The number of elements that are computed in the time of a start in another thread.
constexpr int64_t kLeastWork = 1 << 15;

bool isExchange(RuntimeCallOp call) { return call.getName() == kCollective && call.getParams()[0] != PCRT_PARTICIPANT; }

bool isPartOfOne(Operation *op) {
  auto call = dyn_cast<RuntimeCallOp>(op);
  return call && (call.getName() == kStart || call.getName() == kWait);
}

/// Whether an operation acts outside the program, or is a collective that waits: no start or wait moves across it.
bool isBarrier(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto call = dyn_cast<RuntimeCallOp>(inner);
        bool acts = call && !isPartOfOne(call) &&
                    (call.getEffectful() || call.getName() == "host_call" || call.getName() == kCollective);
        return acts ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether an operation may write a buffer. A routine writes only its outputs.
bool writes(Operation *op, Value buffer) {
  auto call = dyn_cast<RuntimeCallOp>(op);
  if (!call)
    return mayWriteMemory(op, buffer);
  return llvm::any_of(call.getOuts(), [&](Value output) {
    Value root = viewedBuffer(output);
    return root == buffer || !isMemoryOfItsOwn(root);
  });
}

/// A collective in two parts.
struct Pair {
  RuntimeCallOp start, wait;

  Value input() const { return RuntimeCallOp(start).getIns().front(); }
  Value output() const { return RuntimeCallOp(start).getOuts().front(); }
  /// Whether the collective may run beside the operation.
  bool goesWith(Operation *op) const {
    return !op->hasTrait<OpTrait::IsTerminator>() && !isBarrier(op) && !mayUseMemory(op, viewedBuffer(output())) &&
           !writes(op, viewedBuffer(input()));
  }
};

RuntimeCallOp partOf(OpBuilder &b, RuntimeCallOp call, StringRef name, ArrayRef<int64_t> params) {
  return RuntimeCallOp::create(b, call.getLoc(), TypeRange(), name, params, call.getElementTypes(), call.getIns(),
                               call.getOuts());
}

Pair split(RuntimeCallOp call) {
  OpBuilder b(call);
  Pair made{partOf(b, call, kStart, call.getParams()), partOf(b, call, kWait, {})};
  call.erase();
  return made;
}

/// Moves the start up, and with it the views and allocations that it needs.
void hoist(const Pair &pair) {
  Operation *start = pair.start;
  llvm::SmallPtrSet<Operation *, 8> needed;
  auto need = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        needed.insert(source);
  };
  need(start);
  SmallVector<Operation *> carried;
  Operation *place = start;
  for (Operation *op = start->getPrevNode(); op; op = op->getPrevNode()) {
    if (needed.contains(op)) {
      if (!isa<memref::AllocOp>(op) && !isMemoryEffectFree(op))
        break;
      carried.push_back(op);
      need(op);
      continue;
    }
    if (!pair.goesWith(op))
      break;
    if (!isMemoryEffectFree(op))
      place = op;
  }
  // Its operands may lie below the place, in this order.
  for (Operation *op : llvm::reverse(carried))
    if (place == start || !op->isBeforeInBlock(place))
      op->moveBefore(place);
  if (place != start)
    start->moveBefore(place);
}

void sink(const Pair &pair) {
  Operation *next = pair.wait->getNextNode();
  while (pair.goesWith(next))
    next = next->getNextNode();
  pair.wait->moveBefore(next);
}

/// The elements that an operation computes; loops and routines count as many.
int64_t workOf(Operation *op) {
  if (isPartOfOne(op) || isa<ViewLikeOpInterface, memref::AllocOp>(op) || isMemoryEffectFree(op))
    return 0;
  int64_t work = 1;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (int64_t size : linalgOp.getStaticLoopRanges())
      work = ShapedType::isDynamic(size) ? kLeastWork : std::min(work * size, kLeastWork);
    return work;
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto type = cast<MemRefType>(copy.getSource().getType());
    return type.hasStaticShape() ? std::min(type.getNumElements(), kLeastWork) : kLeastWork;
  }
  return op->getNumRegions() != 0 || isa<RuntimeCallOp>(op) ? kLeastWork : 1;
}

bool isWorthStarting(const Pair &pair) {
  int64_t work = 0;
  for (Operation *op = pair.start->getNextNode(); op != pair.wait && work < kLeastWork; op = op->getNextNode())
    work += workOf(op);
  return work >= kLeastWork;
}

void join(const Pair &pair) {
  OpBuilder b(pair.wait);
  partOf(b, pair.start, kCollective, RuntimeCallOp(pair.start).getParams());
  pair.start->erase();
  pair.wait->erase();
}

struct OverlapCollectives : impl::OverlapCollectivesBase<OverlapCollectives> {
  void runOnOperation() override {
    SmallVector<RuntimeCallOp> calls;
    getOperation().walk([&](RuntimeCallOp call) {
      if (isExchange(call) && isMemoryOfItsOwn(viewedBuffer(call.getIns().front())) &&
          isMemoryOfItsOwn(viewedBuffer(call.getOuts().front())))
        calls.push_back(call);
    });
    auto pairs = llvm::map_to_vector(calls, split);
    llvm::for_each(pairs, hoist);
    llvm::for_each(pairs, sink);
    for (const Pair &pair : pairs)
      if (!isWorthStarting(pair))
        join(pair);
  }
};

} // namespace
} // namespace mlir::array

// array-plan-memory: every temporary gets its place in one arena at compile time, so that compiled code allocates
// nothing. It runs when all temporaries are known (after contractions have asked for their packing buffers).
#include "array/Transforms/Entry.h"
#include "array/Transforms/Passes.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

#define GEN_PASS_DEF_PLANMEMORY
#include "array/Transforms/Passes.h.inc"

namespace {

/// One temporary: it is live from operation `first` to operation `last`, both included, numbered in program order.
struct Temporary {
  memref::AllocOp alloc;
  int64_t bytes;
  int64_t first;
  int64_t last;
  int64_t offset = 0;

  bool livesWith(const Temporary &other) const { return first <= other.last && other.first <= last; }
};

int64_t byteSize(MemRefType type) {
  int64_t bits = type.getElementTypeBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

/// Places the largest temporary first, each at the lowest offset that is free while it lives. Returns the arena's size.
int64_t assignOffsets(MutableArrayRef<Temporary> temporaries) {
  SmallVector<Temporary *> order;
  for (Temporary &temporary : temporaries)
    order.push_back(&temporary);
  // Stable: equal sizes stay in program order, so that the plan is the same in every run.
  llvm::stable_sort(order, [](Temporary *a, Temporary *b) { return a->bytes > b->bytes; });

  SmallVector<Temporary *> placed; // by offset
  int64_t arena = 0;
  for (Temporary *temporary : order) {
    int64_t offset = 0;
    for (Temporary *other : placed) {
      if (!other->livesWith(*temporary))
        continue;
      if (other->offset >= offset + temporary->bytes)
        break;
      offset = std::max<int64_t>(offset, llvm::alignTo(other->offset + other->bytes, PCRT_ALIGNMENT));
    }
    temporary->offset = offset;
    arena = std::max(arena, offset + temporary->bytes);
    placed.insert(
        llvm::upper_bound(placed, temporary, [](Temporary *a, Temporary *b) { return a->offset < b->offset; }),
        temporary);
  }
  return arena;
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    if (allocs.empty())
      return;
    BufferViewFlowAnalysis views(function);
    for (memref::AllocOp alloc : allocs)
      if (failed(checkAlloc(views, alloc)))
        return signalPassFailure();

    SmallVector<Temporary> temporaries = findLifetimes(function, views, allocs);
    int64_t bytes = assignOffsets(temporaries);
    useArena(function, temporaries, bytes);
  }

  static LogicalResult checkAlloc(BufferViewFlowAnalysis &views, memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      return alloc.emitError("a temporary must have a static shape and a dense layout, but is ") << type;
    // Every iteration of a loop gets the same bytes, so none may see what another left there.
    if (auto loop = alloc->getParentOfType<LoopLikeOpInterface>()) {
      Region *body = llvm::find_if(
          loop->getRegions(), [&](Region &region) { return region.findAncestorBlockInRegion(*alloc->getBlock()); });
      for (Value view : views.resolve(alloc.getResult()))
        if (!body->isAncestor(view.getParentRegion()) || (isa<BlockArgument>(view) && view.getParentRegion() == body))
          return alloc.emitError("a temporary of a loop must not leave its iteration");
    }
    if (alloc.getAlignment().value_or(0) > PCRT_ALIGNMENT)
      return alloc.emitError("a temporary can't be aligned to more than ") << int64_t(PCRT_ALIGNMENT) << " bytes";
    return success();
  }

  /// The innermost block that holds the allocation and all uses of it: one of a branch may leave the branch.
  static Block *usingBlock(BufferViewFlowAnalysis &views, memref::AllocOp alloc) {
    Block *block = alloc->getBlock();
    for (Value view : views.resolve(alloc.getResult()))
      for (Operation *user : view.getUsers())
        while (!block->findAncestorOpInBlock(*user))
          block = block->getParentOp()->getBlock();
    return block;
  }

  /// Also erases the deallocations, and the allocations that nothing uses.
  static SmallVector<Temporary> findLifetimes(func::FuncOp function, BufferViewFlowAnalysis &views,
                                              ArrayRef<memref::AllocOp> allocs) {
    // Each operation's number, and that of the last operation inside of it.
    DenseMap<Operation *, std::pair<int64_t, int64_t>> position;
    int64_t count = 0;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { position[op] = {count, count}, ++count; });
    function.walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (Operation *parent = op->getParentOp())
        position[parent].second = std::max(position[parent].second, position[op].second);
    });

    SmallVector<Temporary> temporaries;
    SmallVector<Operation *> dead;
    for (memref::AllocOp alloc : allocs) {
      Temporary temporary{alloc, byteSize(alloc.getType()), std::numeric_limits<int64_t>::max(), -1};
      Block *scope = usingBlock(views, alloc);
      for (Value view : views.resolve(alloc.getResult())) {
        for (Operation *user : view.getUsers()) {
          if (isa<memref::DeallocOp>(user)) {
            dead.push_back(user);
            continue;
          }
          // A use inside of a loop is a use of every iteration of the loop.
          auto [first, last] = position.lookup(scope->findAncestorOpInBlock(*user));
          temporary.first = std::min(temporary.first, first);
          temporary.last = std::max(temporary.last, last);
        }
      }
      if (temporary.last >= 0)
        temporaries.push_back(temporary);
      else
        dead.push_back(alloc);
    }
    for (Operation *op : dead)
      op->erase();
    return temporaries;
  }

  static void useArena(func::FuncOp function, ArrayRef<Temporary> temporaries, int64_t bytes) {
    OpBuilder builder(function.getContext());
    function->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(bytes));
    if (temporaries.empty())
      return;
    unsigned index = function.getNumArguments();
    auto type = MemRefType::get({bytes}, builder.getI8Type());
    (void)function.insertArgument(index, type, DictionaryAttr(), function.getLoc());
    setEntryRole(function, index, EntryRole::Arena);
    Value arena = function.getArgument(index);

    for (const Temporary &temporary : temporaries) {
      memref::AllocOp alloc = temporary.alloc;
      builder.setInsertionPoint(alloc);
      Value offset = arith::ConstantIndexOp::create(builder, alloc.getLoc(), temporary.offset);
      Value view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), arena, offset, ValueRange());
      alloc.replaceAllUsesWith(view);
      alloc.erase();
    }
  }
};

} // namespace
} // namespace mlir::array

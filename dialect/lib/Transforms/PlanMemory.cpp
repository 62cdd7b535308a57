// array-plan-memory: every temporary gets its place in one arena at compile time, so that compiled code allocates
// nothing. It runs when all temporaries are known, and how much of each: contractions have asked for their packing
// buffers, and loops over rows have left one row of what they share. array-parallelize-loops follows.
#include "BufferUses.h"
#include "array/Transforms/Entry.h"
#include "array/Transforms/MemoryPlan.h"
#include "array/Transforms/Passes.h"
#include "array/Transforms/Sites.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

#define GEN_PASS_DEF_PLANMEMORY
#include "array/Transforms/Passes.h.inc"

std::vector<PlannedBuffer> getMemoryPlan(ModuleOp module) {
  std::vector<PlannedBuffer> plan;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return plan;
  main.walk([&](memref::ViewOp view) {
    auto live = view->getAttrOfType<DenseI64ArrayAttr>(kLiveAttr);
    std::optional<int64_t> offset = getConstantIntValue(view.getByteShift());
    if (!live || !offset)
      return;
    std::string type;
    llvm::raw_string_ostream(type) << view.getType();
    plan.push_back({*offset, live[2], live[0], live[1], type, placeText(view.getLoc())});
  });
  llvm::stable_sort(plan, [](const PlannedBuffer &a, const PlannedBuffer &b) {
    return std::pair(a.offset, a.first) < std::pair(b.offset, b.first);
  });
  return plan;
}

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

int64_t byteSize(memref::AllocOp alloc) {
  // Of a temporary whose rows share memory only the first ones are there.
  if (auto bytes = alloc->getAttrOfType<IntegerAttr>(kTouchedBytesAttr))
    return bytes.getInt();
  MemRefType type = alloc.getType();
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

/// Numbers the operations of the blocks in which temporaries live, in program order.
class Positions {
public:
  Positions(func::FuncOp function, ArrayRef<Block *> blocks) {
    for (Block *block : blocks)
      for (; block && numbered.insert(block).second; block = block->getParentOp()->getBlock())
        if (block->getParentOp() == function)
          break;
    number(function.getBody().front());
  }

  /// Of an operation of such a block: its number, and the greatest one inside of it.
  std::pair<int64_t, int64_t> operator[](Operation *op) const { return positions.lookup(op); }

private:
  void number(Block &block) {
    for (Operation &op : block) {
      int64_t first = count++;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (numbered.contains(&inner))
            number(inner);
      positions[&op] = {first, count - 1};
    }
  }

  DenseSet<Block *> numbered;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> positions;
  int64_t count = 0;
};

/// An allocation, with what may be in its memory.
struct Allocation {
  memref::AllocOp alloc;
  llvm::SetVector<Value> views;
};

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<Allocation> allocations;
    function.walk([&](memref::AllocOp alloc) { allocations.push_back({alloc, viewsOf(alloc)}); });
    if (allocations.empty())
      return;
    for (const Allocation &allocation : allocations)
      if (failed(checkAlloc(allocation)))
        return signalPassFailure();

    SmallVector<Temporary> temporaries = findLifetimes(function, allocations);
    int64_t bytes = assignOffsets(temporaries);
    useArena(function, temporaries, bytes);
  }

  static LogicalResult checkAlloc(const Allocation &allocation) {
    memref::AllocOp alloc = allocation.alloc;
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      return alloc.emitError("a temporary must have a static shape and a dense layout, but is ") << type;
    // Every iteration of a loop gets the same bytes, so none may see what another left there.
    if (auto loop = alloc->getParentOfType<LoopLikeOpInterface>()) {
      Region *body = llvm::find_if(
          loop->getRegions(), [&](Region &region) { return region.findAncestorBlockInRegion(*alloc->getBlock()); });
      for (Value view : allocation.views)
        if (!body->isAncestor(view.getParentRegion()) || (isa<BlockArgument>(view) && view.getParentRegion() == body))
          return alloc.emitError("a temporary of a loop must not leave its iteration");
    }
    if (alloc.getAlignment().value_or(0) > PCRT_ALIGNMENT)
      return alloc.emitError("a temporary can't be aligned to more than ") << int64_t(PCRT_ALIGNMENT) << " bytes";
    return success();
  }

  /// The innermost block that holds the allocation and all uses of it: one of a branch may leave the branch.
  static Block *usingBlock(const Allocation &allocation) {
    Block *block = memref::AllocOp(allocation.alloc)->getBlock();
    for (Value view : allocation.views)
      for (Operation *user : view.getUsers())
        while (!block->findAncestorOpInBlock(*user))
          block = block->getParentOp()->getBlock();
    return block;
  }

  /// Also erases the deallocations, and the allocations that nothing uses.
  static SmallVector<Temporary> findLifetimes(func::FuncOp function, ArrayRef<Allocation> allocations) {
    SmallVector<Block *> scopes = llvm::map_to_vector(allocations, usingBlock);
    Positions positions(function, scopes);
    SmallVector<Temporary> temporaries;
    SmallVector<Operation *> dead;
    for (auto [allocation, scope] : llvm::zip_equal(allocations, scopes)) {
      memref::AllocOp alloc = allocation.alloc;
      Temporary temporary{alloc, byteSize(alloc), std::numeric_limits<int64_t>::max(), -1};
      auto extend = [&](Operation *user) {
        // A use inside of a loop is a use of every iteration of the loop.
        auto [first, last] = positions[scope->findAncestorOpInBlock(*user)];
        temporary.first = std::min(temporary.first, first);
        temporary.last = std::max(temporary.last, last);
      };
      bool hasViews = false;
      for (Value view : allocation.views) {
        for (Operation *user : view.getUsers()) {
          if (isa<memref::DeallocOp>(user)) {
            dead.push_back(user);
            continue;
          }
          if (isa<ViewLikeOpInterface>(user)) // it touches no memory
            hasViews = true;
          else
            extend(user);
        }
      }
      if (temporary.last < 0 && hasViews)
        extend(alloc);
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
      view.getDefiningOp()->setAttr(kLiveAttr,
                                    builder.getDenseI64ArrayAttr({temporary.first, temporary.last, temporary.bytes}));
      alloc.replaceAllUsesWith(view);
      alloc.erase();
    }
  }
};

} // namespace
} // namespace mlir::array

// Lifetimes and places of temporaries (Temporaries.h).
#include "Temporaries.h"
#include "array/Entry/CallSites.h"
#include "array/Entry/Entry.h"
#include "array/IR/Bytes.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::array;

/// The bytes of an allocation; none if they overflow.
static std::optional<int64_t> byteSize(memref::AllocOp alloc) {
  // If its rows share memory, only the first bytes are used.
  if (auto bytes = alloc->getAttrOfType<IntegerAttr>(kTouchedBytesAttr))
    return bytes.getInt();
  MemRefType type = alloc.getType();
  return type.hasStaticShape() ? countBytes(type) : 0;
}

std::optional<int64_t> array::assignOffsets(MutableArrayRef<Temporary> temporaries) {
  SmallVector<Temporary *> order;
  for (Temporary &temporary : temporaries)
    order.push_back(&temporary);
  // Stable: equal sizes stay in program order, so that the plan is the same in every run.
  llvm::stable_sort(order, [](Temporary *a, Temporary *b) { return a->bytes > b->bytes; });

  SmallVector<Temporary *> placed; // ordered by offset
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
    // Includes the padding that aligns the next one.
    std::optional<int64_t> end = llvm::checkedAdd(offset, temporary->bytes);
    if (!end || !llvm::checkedAdd<int64_t>(*end, PCRT_ALIGNMENT))
      return std::nullopt;
    arena = std::max(arena, *end);
    placed.insert(
        llvm::upper_bound(placed, temporary, [](Temporary *a, Temporary *b) { return a->offset < b->offset; }),
        temporary);
  }
  return arena;
}

namespace {

/// Numbers the operations of the blocks in which temporaries are live, in program order.
class Positions {
public:
  Positions(func::FuncOp function, ArrayRef<Block *> blocks) {
    for (Block *block : blocks)
      for (; block && numbered.insert(block).second; block = block->getParentOp()->getBlock())
        if (block->getParentOp() == function)
          break;
    number(function.getBody().front());
  }

  /// The number of an operation of such a block, and the maximum number inside it.
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

} // namespace

LogicalResult array::checkAlloc(const Allocation &allocation) {
  memref::AllocOp alloc = allocation.alloc;
  MemRefType type = alloc.getType();
  if (!byteSize(alloc))
    return alloc.emitError("a temporary has more bytes than 2**63 - 1: it is ") << type;
  if (!type.getLayout().isIdentity())
    return alloc.emitError("a temporary must have a dense layout, but is ") << type;
  // Every iteration of a loop uses the same bytes, so no iteration may read another one's values there.
  if (auto loop = alloc->getParentOfType<LoopLikeOpInterface>()) {
    Region *body = llvm::find_if(loop->getRegions(),
                                 [&](Region &region) { return region.findAncestorBlockInRegion(*alloc->getBlock()); });
    for (Value view : allocation.views)
      if (!body->isAncestor(view.getParentRegion()) || (isa<BlockArgument>(view) && view.getParentRegion() == body))
        return alloc.emitError("a temporary of a loop must not leave its iteration");
  }
  if (alloc.getAlignment().value_or(0) > PCRT_ALIGNMENT)
    return alloc.emitError("a temporary can't be aligned to more than ") << int64_t(PCRT_ALIGNMENT) << " bytes";
  return success();
}

/// The innermost block that contains the allocation and all its uses: an allocation in a branch may leave the branch.
static Block *usingBlock(const Allocation &allocation) {
  Block *block = memref::AllocOp(allocation.alloc)->getBlock();
  for (Value view : allocation.views)
    for (Operation *user : view.getUsers())
      while (!block->findAncestorOpInBlock(*user))
        block = block->getParentOp()->getBlock();
  return block;
}

SmallVector<Temporary> array::findLifetimes(func::FuncOp function, ArrayRef<Allocation> allocations) {
  SmallVector<Block *> scopes = llvm::map_to_vector(allocations, usingBlock);
  Positions positions(function, scopes);
  SmallVector<Temporary> temporaries;
  SmallVector<Operation *> dead;
  for (auto [allocation, scope] : llvm::zip_equal(allocations, scopes)) {
    memref::AllocOp alloc = allocation.alloc;
    Temporary temporary{alloc, *byteSize(alloc), std::numeric_limits<int64_t>::max(), -1};
    auto extend = [&, scope = scope](Operation *user) {
      // A use inside a loop is a use in every iteration of the loop.
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

void array::replaceByView(const Temporary &temporary, Value buffer, Value offset) {
  memref::AllocOp alloc = temporary.alloc;
  OpBuilder builder(alloc);
  if (!offset)
    offset = arith::ConstantIndexOp::create(builder, alloc.getLoc(), temporary.offset);
  Value view =
      memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), buffer, offset, alloc.getDynamicSizes());
  view.getDefiningOp()->setAttr(kLiveAttr,
                                builder.getDenseI64ArrayAttr({temporary.first, temporary.last, temporary.bytes}));
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

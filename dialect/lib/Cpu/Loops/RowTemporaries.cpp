// The memory of temporaries that a row fusion reduces to one row (RowTemporaries.h).
#include "RowTemporaries.h"
#include "Analysis/Footprint.h"
#include "array/Entry/Entry.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::array::loops {

/// Minimum distance of the writes of two threads: a cache line, and the adjacent line that some machines load with it.
/// Rows of at most this many bytes are on the stack.
static constexpr int64_t apartBytes = 128;
/// Their scratch buffers have numbers from this one on; operands have the numbers below.
static constexpr unsigned firstScratch = 1 << 16;

namespace {
struct Use {
  Nest *nest;
  Access *access;
  Footprint footprint() const { return footprintOf(*access, nest->space); }
};
} // namespace

/// The buffer of which a memref is a part: the inside of a padded one.
static Value bufferOf(Value memref) {
  while (auto part = memref.getDefiningOp<memref::SubViewOp>())
    memref = part.getSource();
  return memref;
}

/// The ops that use a buffer or a part of it.
static SmallVector<Operation *> usersOf(Value buffer) {
  SmallVector<Operation *> users;
  for (Operation *user : buffer.getUsers()) {
    if (auto part = dyn_cast<memref::SubViewOp>(user))
      users.append(usersOf(part));
    else
      users.push_back(user);
  }
  return users;
}

void eraseWithViews(RewriterBase &rewriter, Value buffer) {
  for (Operation *view : llvm::make_early_inc_range(buffer.getUsers()))
    eraseWithViews(rewriter, view->getResult(0));
  rewriter.eraseOp(buffer.getDefiningOp());
}

/// Whether every use of the buffer is an access of a member, and the first of them overwrites it, row by row.
static bool isTemporary(Value memref, ArrayRef<Use> uses, const SmallPtrSetImpl<Operation *> &members) {
  if (!memref.getDefiningOp<memref::ViewOp>() && !memref.getDefiningOp<memref::AllocOp>())
    return false;
  bool isPrivate = llvm::all_of(usersOf(memref), [&](Operation *user) {
    return members.contains(user) ||
           llvm::any_of(uses, [&](const Use &use) { return use.access->flat.getDefiningOp() == user; });
  });
  const Access &first = *uses.front().access;
  Footprint firstFootprint = uses.front().footprint();
  return isPrivate && first.memref == memref && first.isOutput && (first.argument.use_empty() || first.init) &&
         llvm::all_of(uses, [&](const Use &use) {
           return use.footprint().rowsAreApart() && use.footprint().hasSameRows(firstFootprint);
         });
}

/// The distance between the rows of two blocks, for an allocation that can grow if necessary.
static SymbolicSize strideOfBlocks(OpBuilder &b, IndexBuilder &indices, Location loc, const Access &access) {
  const SymbolicSize &row = access.strides[0];
  int64_t unit = apartBytes / bytesOf(access.element);
  if (row.isMultipleOf(unit) || !access.memref.getDefiningOp<memref::AllocOp>())
    return row;
  if (row.isStatic())
    return SymbolicSize(llvm::alignTo(row.factor, unit));
  // At the start of the function, before the allocation, if the row's size is available there.
  Value size = indices.get(b, loc, row);
  bool isEarly = size.getParentBlock()->isEntryBlock() && isa<func::FuncOp>(size.getParentBlock()->getParentOp());
  return isEarly ? SymbolicSize(unit, indices.ceilDiv(b, loc, size, indices.index(b, unit))) : row;
}

/// The rows of a temporary may share the memory of its first row, unless a buffer with separate rows shares its memory.
SmallVector<Value> shareRows(OpBuilder &b, IndexBuilder &indices, MutableArrayRef<Nest> nests) {
  SmallPtrSet<Operation *, 8> members;
  llvm::MapVector<Value, SmallVector<Use>> uses;
  for (Nest &nest : nests) {
    members.insert(nest.op);
    for (Access &access : nest.space.accesses)
      if (!access.scalar)
        uses[bufferOf(access.memref)].push_back({&nest, &access});
  }
  llvm::SmallSetVector<Value, 8> temporaries;
  for (auto &[memref, usesOfIt] : uses)
    if (isTemporary(memref, usesOfIt, members))
      temporaries.insert(memref);
  auto liesOverKept = [&](Value temporary) {
    return llvm::any_of(uses, [&](auto &other) {
      return !temporaries.contains(other.first) && llvm::any_of(other.second, [&](const Use &use) {
        return mayOverlap(use.footprint(), uses.find(temporary)->second.front().footprint());
      });
    });
  };
  while (temporaries.remove_if(liesOverKept)) {
  }
  SmallVector<Value> onStack;
  for (auto [number, temporary] : llvm::enumerate(temporaries)) {
    ArrayRef<Use> usesOfIt = uses.find(temporary)->second;
    const Access &first = *usesOfIt.front().access;
    SymbolicSize row = first.strides[0], start = first.start;
    Type element = first.element;
    bool isShort =
        row.isStatic() && row.factor * bytesOf(element) <= apartBytes && llvm::all_of(usesOfIt, [&](const Use &use) {
          return use.access->start == start || (start.isStatic() && use.access->start.isStatic());
        });
    SymbolicSize stride =
        isShort ? SymbolicSize(0) : strideOfBlocks(b, indices, usesOfIt.front().nest->op.getLoc(), first);
    Value stack;
    if (isShort) {
      stack = indices.scratch(b, MemRefType::get({row.factor}, element), firstScratch + number);
      onStack.push_back(temporary);
    }
    for (const Use &use : usesOfIt) {
      use.access->isOneRow = true;
      use.access->strideOfBlocks = stride;
      if (!stack)
        continue;
      use.access->memref = use.access->flat = stack;
      use.access->start = use.access->start == start ? 0 : use.access->start.factor - start.factor;
    }
  }
  return onStack;
}

SmallVector<RowsOfTemporary> findRows(ArrayRef<Nest> nests, int64_t blocks) {
  llvm::MapVector<Operation *, RowsOfTemporary> found;
  for (const Nest &nest : nests)
    for (const Access &access : nest.space.accesses) {
      auto alloc = access.isOneRow ? access.memref.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
      if (!alloc)
        continue;
      RowsOfTemporary &rows =
          found.try_emplace(alloc, RowsOfTemporary{alloc, 0, SymbolicSize(blocks) * access.strideOfBlocks})
              .first->second;
      Footprint footprint = footprintOf(access, nest.space);
      int64_t stride = access.strideOfBlocks.factor * bytesOf(access.element);
      int64_t end = footprint.first + (blocks - 1) * stride + footprint.span;
      if (!rows.bytes || !footprint.known || end > footprint.end)
        rows.bytes = std::nullopt;
      else
        rows.bytes = std::max(*rows.bytes, end);
    }
  return llvm::map_to_vector(found, [](auto &entry) { return entry.second; });
}

void shrink(RewriterBase &rewriter, IndexBuilder &indices, const RowsOfTemporary &rows) {
  memref::AllocOp alloc = rows.alloc;
  if (rows.bytes) {
    alloc->setAttr(kTouchedBytesAttr, rewriter.getI64IntegerAttr(*rows.bytes));
    return;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(alloc);
  const SymbolicSize &elements = rows.elements;
  auto type =
      MemRefType::get({elements.isStatic() ? elements.factor : ShapedType::kDynamic}, alloc.getType().getElementType());
  SmallVector<Value> length;
  if (!elements.isStatic())
    length.push_back(indices.get(rewriter, alloc.getLoc(), elements));
  Value flat = memref::AllocOp::create(rewriter, alloc.getLoc(), type, length);
  // All remaining uses are loads and stores of elements in a row, which accept a buffer of any length.
  for (Operation *user : usersOf(alloc))
    if (isa<memref::ReinterpretCastOp>(user))
      rewriter.replaceOp(user, flat);
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (auto part = dyn_cast<memref::SubViewOp>(user))
      eraseWithViews(rewriter, part);
  rewriter.replaceOp(alloc, flat);
}

} // namespace mlir::array::loops

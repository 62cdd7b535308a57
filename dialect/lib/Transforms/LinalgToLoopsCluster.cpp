// Decides which ops share the loop over their rows (LinalgToLoopsCluster.h). Sizes that are not known are compared as
// products of the sizes of arguments.
#include "LinalgToLoopsCluster.h"
#include "LinalgToLoopsFootprint.h"
#include "array/Transforms/Entry.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::array::loops {

/// Rows shorter than this are not worth a loop of their own, but for single elements (a value for each row).
static constexpr int64_t minRow = 8;
static constexpr size_t maxMembers = 16;

//===--- Memory ---------------------------------------------------------------------------------------------------===//

/// Whether row i of one nest may be done right after row i of the other one, before the other rows of the other one.
static bool isRowByRow(const Nest &before, const Nest &after, bool &shares) {
  for (const Access &a : before.space.accesses) {
    for (const Access &b : after.space.accesses) {
      if (a.scalar || b.scalar)
        continue;
      Footprint first = footprintOf(a, before.space), second = footprintOf(b, after.space);
      bool sameRows =
          first.root == second.root && first.hasSameRows(second) && first.rowsAreApart() && second.rowsAreApart();
      shares |= sameRows;
      if ((a.isOutput || b.isOutput) && !sameRows && mayOverlap(first, second))
        return false;
    }
  }
  return true;
}

/// Whether a nest writes what the body of another one loads from.
static bool writesCaptured(const Nest &writer, const Nest &reader) {
  linalg::LinalgOp op = reader.op;
  for (auto load : op.getBlock()->getOps<memref::LoadOp>()) {
    Footprint loaded{rootOf(load.getMemRef())};
    for (const Access &output : writer.space.outputs())
      if (mayOverlap(footprintOf(output, writer.space), loaded))
        return true;
  }
  return false;
}

//===--- Members --------------------------------------------------------------------------------------------------===//

/// One parallel dimension, which may be cut into rows.
static bool isFlat(const Nest &nest) {
  const IterationSpace &space = nest.space;
  return space.dims.size() == 1 && !space.dims[0].reduced && !space.dims[0].indexSource;
}

/// A flat nest as `rows` rows.
static bool cutIntoRows(Nest &nest, const Extent &rows, const Machine &machine) {
  IterationSpace &space = nest.space;
  std::optional<Extent> row = isFlat(nest) ? space.dims[0].size.dividedBy(rows) : std::nullopt;
  if (!row)
    return false;
  if (row->isStatic(1)) {
    nest.strategy = Strategy();
    return true;
  }
  if (row->expected() < minRow)
    return false;
  space.dims[0].size = rows;
  space.dims.emplace_back().size = *row;
  for (Access &access : space.accesses) {
    Extent stride = access.strides[0];
    access.strides[0] = stride * *row;
    access.strides.push_back(stride);
  }
  nest.strategy = chooseStrategy(nest.op, space, machine);
  return nest.startsWithRows();
}

/// A flat nest in blocks, as rows.
static bool cutIntoBlocks(OpBuilder &b, IndexBuilder &indices, Nest &nest, int64_t block, const Machine &machine) {
  if (!isFlat(nest))
    return false;
  nest.space.cutIntoBlocks(b, nest.op->getLoc(), indices, 0, block);
  nest.strategy = chooseStrategy(nest.op, nest.space, machine);
  return nest.startsWithRows();
}

static bool cutIntoBlocks(OpBuilder &b, IndexBuilder &indices, MutableArrayRef<Nest> nests, int64_t block,
                          const Machine &machine) {
  return llvm::all_of(nests, [&](Nest &nest) { return cutIntoBlocks(b, indices, nest, block, machine); });
}

/// Arrays of more bytes than this leave the first cache between one nest and the next; blocks of at most so many stay,
/// those of a dozen arrays with them (Black-Scholes takes 9% less time by blocks of 2 KiB than of 8 on Zen 4).
static constexpr int64_t cachedBytes = 64 << 10, blockBytes = 2 << 10;

/// The elements of a block if flat nests of that many elements share a loop: even parts, of whole cache lines if there
/// are such, where the size is known; 0 where they are as well off one after the other.
static int64_t elementsOfBlock(const Extent &size, const Nest &nest) {
  int64_t bytes = 1;
  for (const Access &access : nest.space.accesses)
    if (!access.scalar && access.element.isIntOrFloat())
      bytes = std::max<int64_t>(bytes, access.element.getIntOrFloatBitWidth() / 8);
  if ((size * Extent(bytes)).isAtMost(cachedBytes))
    return 0;
  int64_t most = blockBytes / bytes;
  if (!size.isStatic())
    return most;
  for (int64_t step : {int64_t(64), int64_t(1)})
    for (int64_t block = most; block >= most / 8; block -= step)
      if (size.factor % block == 0)
        return block;
  return 0;
}

/// Results of more bytes than this are kept to rows even where several rows at once would be computed faster.
static constexpr int64_t largeBytes = 2 << 20;

/// A nest that does several rows at once does one after the other, if what it writes is large.
static bool doRowByRow(Nest &nest) {
  bool isLarge = llvm::any_of(nest.space.outputs(),
                              [&](const Access &output) { return nest.space.bytesTouched(output) > largeBytes; });
  if (nest.strategy.jamDim != 0u || !isLarge)
    return false;
  nest.strategy.jamDim.reset();
  nest.strategy.jamSize = 1;
  return nest.startsWithRows();
}

/// Whether `nest` may do its rows right after those of the members, and has some of them in common.
static bool fitsBehind(ArrayRef<Nest> members, const Nest &nest) {
  bool shares = false;
  return llvm::all_of(members,
                      [&](const Nest &member) {
                        return isRowByRow(member, nest, shares) && !writesCaptured(member, nest) &&
                               !writesCaptured(nest, member);
                      }) &&
         shares;
}

static bool cutIntoRows(MutableArrayRef<Nest> nests, const Extent &rows, const Machine &machine) {
  return llvm::all_of(nests, [&](Nest &nest) { return cutIntoRows(nest, rows, machine); });
}

/// Flat nests stay as they are, so that rows that come later can say how they are cut.
bool Cluster::joinFlat(OpBuilder &b, IndexBuilder &indices, Nest &nest) {
  const Extent &size = nests.front().space.dims[0].size;
  int64_t length = nest.space.dims[0].size == size ? elementsOfBlock(size, nest) : 0;
  SmallVector<Nest, 4> members = nests;
  Nest cut = nest;
  if (length == 0 || !cutIntoBlocks(b, indices, members, length, machine) ||
      !cutIntoBlocks(b, indices, cut, length, machine) || !fitsBehind(members, cut))
    return false;
  block = length;
  nests.push_back(std::move(nest));
  return true;
}

bool Cluster::join(OpBuilder &b, IndexBuilder &indices, Nest nest) {
  if (nests.empty()) {
    nests.push_back(std::move(nest));
    return true;
  }
  if (nests.size() == maxMembers)
    return false;
  bool areFlat = llvm::all_of(nests, isFlat);
  if (areFlat && isFlat(nest))
    return joinFlat(b, indices, nest);
  SmallVector<Nest, 4> members = nests;
  if (nest.startsWithRows() && !members.front().startsWithRows() &&
      !(areFlat && cutIntoRows(members, nest.space.dims[0].size, machine)) &&
      !(members.size() == 1 && doRowByRow(members.front())))
    return false;
  const Nest &first = members.front();
  if (!first.startsWithRows())
    return false;
  const Extent rows = first.space.dims[0].size;
  bool fits = nest.startsWithRows() && nest.space.dims[0].size == rows;
  if ((!fits && !cutIntoRows(nest, rows, machine)) || !fitsBehind(members, nest))
    return false;
  nests = std::move(members);
  nests.push_back(std::move(nest));
  return true;
}

//===--- Emission -------------------------------------------------------------------------------------------------===//

namespace {
struct Use {
  Nest *nest;
  Access *access;
  Footprint footprint() const { return footprintOf(*access, nest->space); }
};
} // namespace

/// Whether every use of the buffer is an access of a member, and the first of them overwrites it, row by row.
static bool isTemporary(Value memref, ArrayRef<Use> uses, const SmallPtrSetImpl<Operation *> &members) {
  if (!memref.getDefiningOp<memref::ViewOp>() && !memref.getDefiningOp<memref::AllocOp>())
    return false;
  bool isPrivate = llvm::all_of(memref.getUsers(), [&](Operation *user) {
    return members.contains(user) ||
           llvm::any_of(uses, [&](const Use &use) { return use.access->flat.getDefiningOp() == user; });
  });
  const Access &first = *uses.front().access;
  Footprint firstFootprint = uses.front().footprint();
  return isPrivate && first.isOutput && (first.argument.use_empty() || first.init) &&
         llvm::all_of(uses, [&](const Use &use) {
           return use.footprint().rowsAreApart() && use.footprint().hasSameRows(firstFootprint);
         });
}

/// The rows of a temporary may share the memory of its first row, unless a buffer that keeps its rows lies in the same
/// place.
static void shareRows(SmallVectorImpl<Nest> &nests) {
  SmallPtrSet<Operation *, 8> members;
  llvm::MapVector<Value, SmallVector<Use>> uses;
  for (Nest &nest : nests) {
    members.insert(nest.op);
    for (Access &access : nest.space.accesses)
      if (!access.scalar)
        uses[access.memref].push_back({&nest, &access});
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
  for (Value temporary : temporaries)
    for (const Use &use : uses.find(temporary)->second)
      use.access->isOneRow = true;
}

namespace {
/// An allocation of which a row for each block of rows is left.
struct Shrunk {
  memref::AllocOp alloc;
  std::optional<int64_t> bytes; // where that is known
  Extent elements;
};
} // namespace

/// The temporaries that share rows, and what is left of them.
static SmallVector<Shrunk> findShrunk(ArrayRef<Nest> nests, int64_t blocks) {
  llvm::MapVector<Operation *, Shrunk> found;
  for (const Nest &nest : nests)
    for (const Access &access : nest.space.accesses)
      if (auto alloc = access.isOneRow ? access.memref.getDefiningOp<memref::AllocOp>() : memref::AllocOp()) {
        Footprint footprint = footprintOf(access, nest.space);
        Shrunk &shrunk = found[alloc] = Shrunk{alloc, std::nullopt, Extent(blocks) * access.strides[0]};
        if (footprint.known)
          shrunk.bytes = footprint.first + (blocks - 1) * footprint.stride + footprint.span;
      }
  return llvm::map_to_vector(found, [](auto &entry) { return entry.second; });
}

/// Says of a temporary how many bytes of it are touched; or replaces it by a flat one of as many elements, where only
/// sizes that are not known say that.
static void shrink(RewriterBase &rewriter, IndexBuilder &indices, const Shrunk &shrunk) {
  memref::AllocOp alloc = shrunk.alloc;
  if (shrunk.bytes) {
    alloc->setAttr(kTouchedBytesAttr, rewriter.getI64IntegerAttr(*shrunk.bytes));
    return;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(alloc);
  const Extent &elements = shrunk.elements;
  auto type =
      MemRefType::get({elements.isStatic() ? elements.factor : ShapedType::kDynamic}, alloc.getType().getElementType());
  SmallVector<Value> length;
  if (!elements.isStatic())
    length.push_back(indices.get(rewriter, alloc.getLoc(), elements));
  Value flat = memref::AllocOp::create(rewriter, alloc.getLoc(), type, length);
  SmallVector<Operation *> views(alloc->getUsers());
  for (Operation *user : views)
    if (auto view = dyn_cast<memref::ReinterpretCastOp>(user)) {
      Value same = flat;
      if (view.getType() != type)
        same = memref::CastOp::create(rewriter, alloc.getLoc(), view.getType(), flat);
      rewriter.replaceOp(view, same);
    }
  if (!alloc->use_empty() && alloc.getType() != type)
    flat = memref::CastOp::create(rewriter, alloc.getLoc(), alloc.getType(), flat);
  rewriter.replaceOp(alloc, flat);
}

void Cluster::emit(RewriterBase &rewriter, IndexBuilder &indices) {
  if (nests.empty())
    return;
  if (nests.size() > 1 && llvm::all_of(nests, isFlat))
    cutIntoBlocks(rewriter, indices, nests, block, machine);
  if (nests.size() > 1) {
    shareRows(nests);
    chooseFetchOfRows(nests);
  }
  rewriter.setInsertionPoint(nests.back().op);
  SmallVector<Shrunk> temporaries;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    Location loc = nests.back().op.getLoc();
    if (marksKernels) {
      auto region = scf::ExecuteRegionOp::create(rewriter, loc, TypeRange());
      region->setAttr(kKernelAttr, rewriter.getUnitAttr());
      rewriter.createBlock(&region.getRegion());
      scf::YieldOp::create(rewriter, loc);
      rewriter.setInsertionPoint(region.getRegion().front().getTerminator());
    }
    temporaries = findShrunk(nests, emitNests(rewriter, indices, nests, machine.registerBits));
  }
  for (Nest &nest : nests)
    rewriter.eraseOp(nest.op);
  for (const Shrunk &temporary : temporaries)
    shrink(rewriter, indices, temporary);
  nests.clear();
}

} // namespace mlir::array::loops

// Decides which ops share the loop over their rows (LinalgToLoopsCluster.h). All of it is for static sizes.
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
  return space.dims.size() == 1 && !space.dims[0].reduced && !space.dims[0].indexSource &&
         space.dims[0].size.isStatic();
}

/// A flat nest as `rows` rows.
static bool cutIntoRows(Nest &nest, int64_t rows, const Machine &machine) {
  IterationSpace &space = nest.space;
  if (!isFlat(nest) || space.dims[0].size.factor % rows != 0)
    return false;
  int64_t row = space.dims[0].size.factor / rows;
  if (row == 1) {
    nest.strategy = Strategy();
    return true;
  }
  if (row < minRow)
    return false;
  space.dims[0].size = rows;
  space.dims.emplace_back().size = row;
  for (Access &access : space.accesses) {
    Extent stride = access.strides[0];
    access.strides[0] = stride * Extent(row);
    access.strides.push_back(stride);
  }
  nest.strategy = chooseStrategy(nest.op, space, machine);
  return nest.startsWithRows();
}

/// Arrays of more bytes than this leave the first cache between one nest and the next; blocks of at most so many stay.
static constexpr int64_t cachedBytes = 64 << 10, blockBytes = 8 << 10;

/// In how many blocks flat nests of that many elements share a loop: as even parts, of whole cache lines if there are
/// such; 0 where they are as well off one after the other.
static int64_t blocksOf(int64_t size, const Nest &nest) {
  int64_t bytes = 1;
  for (const Access &access : nest.space.accesses)
    if (!access.scalar && access.element.isIntOrFloat())
      bytes = std::max<int64_t>(bytes, access.element.getIntOrFloatBitWidth() / 8);
  if (size * bytes <= cachedBytes)
    return 0;
  int64_t most = blockBytes / bytes;
  for (int64_t step : {int64_t(64), int64_t(1)})
    for (int64_t block = most; block >= most / 8; block -= step)
      if (size % block == 0)
        return size / block;
  return 0;
}

/// Results of more bytes than this are kept to rows even where several rows at once would be computed faster.
static constexpr int64_t largeBytes = 2 << 20;

/// A nest that does several rows at once does one after the other, if what it writes is large.
static bool doRowByRow(Nest &nest) {
  bool isLarge = llvm::any_of(nest.space.outputs(), [&](const Access &output) {
    Footprint footprint = footprintOf(output, nest.space);
    return footprint.known && footprint.end - footprint.first > largeBytes;
  });
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

static bool cutIntoRows(MutableArrayRef<Nest> nests, int64_t rows, const Machine &machine) {
  return llvm::all_of(nests, [&](Nest &nest) { return cutIntoRows(nest, rows, machine); });
}

/// Flat nests stay as they are, so that rows that come later can say how they are cut.
bool Cluster::joinFlat(Nest &nest) {
  const Extent &size = nests.front().space.dims[0].size;
  int64_t count = nest.space.dims[0].size == size ? blocksOf(size.factor, nest) : 0;
  SmallVector<Nest, 4> members = nests;
  Nest cut = nest;
  if (count == 0 || !cutIntoRows(members, count, machine) || !cutIntoRows(cut, count, machine) ||
      !fitsBehind(members, cut))
    return false;
  blocks = count;
  nests.push_back(std::move(nest));
  return true;
}

bool Cluster::join(Nest nest) {
  if (nests.empty()) {
    nests.push_back(std::move(nest));
    return true;
  }
  if (nests.size() == maxMembers)
    return false;
  bool areFlat = llvm::all_of(nests, isFlat);
  if (areFlat && isFlat(nest))
    return joinFlat(nest);
  SmallVector<Nest, 4> members = nests;
  if (nest.startsWithRows() && nest.space.dims[0].size.isStatic() && !members.front().startsWithRows() &&
      !(areFlat && cutIntoRows(members, nest.space.dims[0].size.factor, machine)) &&
      !(members.size() == 1 && doRowByRow(members.front())))
    return false;
  const Nest &first = members.front();
  if (!first.startsWithRows() || !first.space.dims[0].size.isStatic())
    return false;
  int64_t rows = first.space.dims[0].size.factor;
  bool fits = nest.startsWithRows() && nest.space.dims[0].size.isStatic(rows);
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

/// Says of the temporaries that share rows how many bytes of them are touched: each block of rows has a row.
static void markTouched(ArrayRef<Nest> nests, int64_t blocks) {
  for (const Nest &nest : nests)
    for (const Access &access : nest.space.accesses)
      if (auto alloc = access.isOneRow ? access.memref.getDefiningOp<memref::AllocOp>() : memref::AllocOp()) {
        Footprint footprint = footprintOf(access, nest.space);
        int64_t bytes = footprint.first + (blocks - 1) * footprint.stride + footprint.span;
        alloc->setAttr(kTouchedBytesAttr, IntegerAttr::get(IntegerType::get(alloc.getContext(), 64), bytes));
      }
}

void Cluster::emit(RewriterBase &rewriter, IndexBuilder &indices) {
  if (nests.empty())
    return;
  if (nests.size() > 1 && llvm::all_of(nests, isFlat))
    cutIntoRows(nests, blocks, machine);
  if (nests.size() > 1)
    shareRows(nests);
  rewriter.setInsertionPoint(nests.back().op);
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
    markTouched(nests, emitNests(rewriter, indices, nests, machine.registerBits));
  }
  for (Nest &nest : nests)
    rewriter.eraseOp(nest.op);
  nests.clear();
}

} // namespace mlir::array::loops

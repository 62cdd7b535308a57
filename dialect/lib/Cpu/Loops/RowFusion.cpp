// Decides which ops share the loop over their rows (RowFusion.h). Unknown sizes are compared as products of the sizes
// of arguments.
#include "RowFusion.h"
#include "Analysis/Footprint.h"
#include "RowTemporaries.h"
#include "array/Entry/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

/// The minimum length of rows for a separate loop, except for single elements (a value for each row).
static constexpr int64_t minRow = 8;
static constexpr size_t maxMembers = 16;

//===--- Memory ---------------------------------------------------------------------------------------------------===//

/// Whether row i of one nest may be computed right after row i of another one, before the other rows of that one.
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

//===--- Members --------------------------------------------------------------------------------------------------===//

/// One parallel dimension, which may be divided into rows. They get a schedule of their own.
static bool isFlat(const Nest &nest) {
  const IterationSpace &space = nest.space;
  return !nest.isGiven && space.dims.size() == 1 && !space.dims[0].reduced && !space.dims[0].indexSource;
}

/// Rows of at most this many elements are short.
static constexpr int64_t shortRow = 64;

/// The elements of the longest row of an operand.
static int64_t longestRow(ArrayRef<Nest> nests) {
  int64_t longest = 1;
  for (const Nest &nest : nests)
    for (const Access &access : nest.space.accesses) {
      int64_t row = 1;
      for (unsigned dim = 1; dim < nest.space.dims.size(); ++dim)
        row *= access.moves(dim) ? nest.space.dims[dim].size.expected() : 1;
      longest = std::max(longest, row);
    }
  return longest;
}

/// Whether one element takes about as long as a vector of them: functions, roots and quotients.
static bool isSlowAlone(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &inner) {
    return isa<arith::DivFOp>(inner) ||
           (isa<math::MathDialect>(inner.getDialect()) && !isa<math::AbsFOp, math::FmaOp, math::CopySignOp>(inner));
  });
}

/// A flat nest as `rows` rows, beside rows of this many elements.
static bool cutIntoRows(Nest &nest, const SymbolicSize &rows, int64_t elements, const Machine &machine) {
  IterationSpace &space = nest.space;
  std::optional<SymbolicSize> row = isFlat(nest) ? space.dims[0].size.dividedBy(rows) : std::nullopt;
  if (!row)
    return false;
  if (row->isStatic(1)) {
    if (elements <= shortRow && isSlowAlone(nest.op))
      return false;
    nest.schedule = LoopSchedule();
    return true;
  }
  if (row->expected() < minRow)
    return false;
  space.split(0, rows, *row);
  nest.schedule = chooseSchedule(nest.op, space, machine, /*jamsRows=*/false);
  return nest.startsWithRows();
}

/// A flat nest in blocks, as rows.
static bool cutIntoBlocks(OpBuilder &b, IndexBuilder &indices, Nest &nest, int64_t block, const Machine &machine) {
  if (!isFlat(nest))
    return false;
  nest.space.cutIntoBlocks(b, nest.op->getLoc(), indices, 0, block);
  nest.schedule = chooseSchedule(nest.op, nest.space, machine, /*jamsRows=*/false);
  return nest.startsWithRows();
}

static bool cutIntoBlocks(OpBuilder &b, IndexBuilder &indices, MutableArrayRef<Nest> nests, int64_t block,
                          const Machine &machine) {
  return llvm::all_of(nests, [&](Nest &nest) { return cutIntoBlocks(b, indices, nest, block, machine); });
}

/// Larger arrays, in bytes, leave the first cache between one nest and the next. Blocks of at most blockBytes stay,
/// even with a dozen arrays (Black-Scholes takes 9% less time by blocks of 2 KiB than of 8 KiB on Zen 4).
static constexpr int64_t cachedBytes = 64 << 10, blockBytes = 2 << 10;

/// The elements of a block if flat nests of that many elements share a loop. If the size is known, the parts are even,
/// in whole cache lines if possible. 0 if separate loops are as fast.
static int64_t elementsOfBlock(const SymbolicSize &size, const Nest &nest) {
  int64_t bytes = 1;
  for (const Access &access : nest.space.accesses)
    if (!access.scalar && access.element.isIntOrFloat())
      bytes = std::max<int64_t>(bytes, access.element.getIntOrFloatBitWidth() / 8);
  if ((size * SymbolicSize(bytes)).isAtMost(cachedBytes))
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

/// Larger results, in bytes, are computed row by row even if several rows at once would be faster.
static constexpr int64_t largeBytes = 2 << 20;

/// A nest that computes several rows at once computes one at a time if its result is large.
static bool doRowByRow(Nest &nest) {
  bool isLarge = llvm::any_of(nest.space.outputs(),
                              [&](const Access &output) { return nest.space.bytesTouched(output) > largeBytes; });
  if (nest.isGiven || nest.schedule.jamDim != 0u || !isLarge)
    return false;
  nest.schedule.jamDim.reset();
  nest.schedule.jamSize = 1;
  return nest.startsWithRows();
}

/// A stencil that computes several rows at once computes them one by one beside other nests, which then find them in
/// the cache.
static void separateRows(Nest &nest, const Machine &machine) {
  if (!nest.isGiven && nest.schedule.jamDim && !nest.space.hasReduction())
    nest.schedule = chooseSchedule(nest.op, nest.space, machine, /*jamsRows=*/false);
}

/// Whether `nest` may compute its rows right after those of the members, and shares some of them.
static bool fitsBehind(ArrayRef<Nest> members, const Nest &nest) {
  bool shares = false;
  return llvm::all_of(members,
                      [&](const Nest &member) {
                        return isRowByRow(member, nest, shares) && !writesLoaded(member.space, nest.op) &&
                               !writesLoaded(nest.space, member.op);
                      }) &&
         shares;
}

/// The maximum number of elements of a block of short rows.
static constexpr int64_t mostOfBlock = 512;

/// Whether a nest stores short rows in pieces: by vectors across the memory, or shorter than the row. A vector that
/// loads the row right afterwards waits until the pieces have left the store buffer (a product of 3 x 3 matrices and
/// its scale take 8.8 ns row by row, 3.8 in blocks of 56 rows on Zen 5).
static bool storesInPieces(const Nest &nest, const Access &output) {
  int64_t row = 1;
  for (auto [number, dim] : llvm::enumerate(ArrayRef(nest.space.dims).drop_front())) {
    if (!dim.size.isStatic())
      return false;
    row *= output.moves(number + 1) ? dim.size.factor : 1;
  }
  std::optional<unsigned> vector = nest.schedule.vectorDim;
  bool isWhole = vector && output.strides[*vector].isStatic(1) && nest.space.dims[*vector].size.isStatic(row);
  return row > 1 && row <= shortRow && !isWhole;
}

/// Whether `nest` loads rows that a member stores in pieces.
static bool loadsPieces(ArrayRef<Nest> members, const Nest &nest) {
  return llvm::any_of(members, [&](const Nest &member) {
    return llvm::any_of(member.space.outputs(), [&](const Access &output) {
      return storesInPieces(member, output) && llvm::any_of(nest.space.inputs(), [&](const Access &input) {
               return !input.scalar && mayOverlap(footprintOf(output, member.space), footprintOf(input, nest.space));
             });
    });
  });
}

/// Divides the rows of all nests into blocks, which become their rows. False if the number of rows has no divisor for
/// it.
static bool cutIntoBlocksOfRows(MutableArrayRef<Nest> nests, const SymbolicSize &rows, const Machine &machine) {
  if (!llvm::all_of(nests, [](const Nest &nest) { return hasStaticSizes(nest.space); }))
    return false;
  int64_t widest = longestRow(nests);
  int64_t block = mostOfBlock / widest;
  while (block > 1 && rows.factor % block != 0)
    --block;
  return block * widest * 4 >= mostOfBlock && llvm::all_of(nests, [&](Nest &nest) {
           LoopDim &first = nest.space.dims[0];
           if (nest.isGiven || first.indexSource)
             return false;
           nest.space.split(0, SymbolicSize(rows.factor / block), SymbolicSize(block));
           nest.schedule = chooseSchedule(nest.op, nest.space, machine, /*jamsRows=*/false);
           return nest.startsWithRows();
         });
}

static bool cutIntoRows(MutableArrayRef<Nest> nests, const Nest &beside, const Machine &machine) {
  return llvm::all_of(
      nests, [&](Nest &nest) { return cutIntoRows(nest, beside.space.dims[0].size, longestRow(beside), machine); });
}

/// Flat nests stay flat, so that later nests with rows can determine their division.
bool RowFusion::joinFlat(OpBuilder &b, IndexBuilder &indices, Nest &nest) {
  const SymbolicSize &size = nests.front().space.dims[0].size;
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

bool RowFusion::join(OpBuilder &b, IndexBuilder &indices, Nest nest) {
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
  separateRows(nest, machine);
  separateRows(members.front(), machine);
  if (nest.startsWithRows() && !members.front().startsWithRows() && !(areFlat && cutIntoRows(members, nest, machine)) &&
      !(members.size() == 1 && doRowByRow(members.front())))
    return false;
  const Nest &first = members.front();
  if (!first.startsWithRows())
    return false;
  SymbolicSize rows = first.space.dims[0].size;
  bool fits = nest.startsWithRows() && nest.space.dims[0].size == rows;
  if (loadsPieces(members, nest)) {
    if (fits)
      members.push_back(nest);
    if (!cutIntoBlocksOfRows(members, rows, machine))
      return false;
    if (fits)
      nest = members.pop_back_val();
    rows = members.front().space.dims[0].size;
  }
  if ((!fits && !cutIntoRows(nest, rows, longestRow(members), machine)) || !fitsBehind(members, nest))
    return false;
  nests = std::move(members);
  nests.push_back(std::move(nest));
  return true;
}

//===--- Emission -------------------------------------------------------------------------------------------------===//

void RowFusion::emit(RewriterBase &rewriter, IndexBuilder &indices) {
  if (nests.empty())
    return;
  if (nests.size() > 1 && llvm::all_of(nests, isFlat))
    cutIntoBlocks(rewriter, indices, nests, block, machine);
  SmallVector<Value> unused;
  if (nests.size() > 1) {
    unused = shareRows(rewriter, indices, nests);
    chooseFetchOfRows(nests);
  }
  rewriter.setInsertionPoint(nests.back().op);
  SmallVector<RowsOfTemporary> temporaries;
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
    temporaries = findRows(nests, emitNests(rewriter, indices, nests, machine.registerBits));
  }
  for (Nest &nest : nests)
    rewriter.eraseOp(nest.op);
  for (const RowsOfTemporary &temporary : temporaries)
    shrink(rewriter, indices, temporary);
  for (Value buffer : unused)
    eraseWithViews(rewriter, buffer);
  nests.clear();
}

} // namespace mlir::array::loops

// Long reductions in blocks, with accumulators that are rows in memory (NestEmitter.h): a row for each size of block.
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

/// The minimum rows for blocks if their number is not known, and the maximum operations of steps that are duplicated
/// for each position of a block in a larger one.
static constexpr int64_t leastRows = 64, joinedOperations = 4;
/// Maximum bytes of the blocks' own rows of accumulators, which are on the stack.
static constexpr int64_t mostBytesOfRows = 128 << 10;

std::pair<Value, SymbolicSize> placeRows(OpBuilder &b, IndexBuilder &indices, Location loc, const Nest &nest,
                                         int64_t elements, Type element, unsigned number, bool shared) {
  const Access *rows = llvm::find_if(nest.space.inputs(), [&](const Access &access) {
    return !access.scalar && access.moves(*nest.schedule.vectorDim);
  });
  if (!nest.schedule.readsInOrder || rows == nest.space.inputs().end())
    return {indices.scratch(b, MemRefType::get({elements}, element), number, shared), SymbolicSize(0)};
  auto [buffer, start] = indices.scratchApartFrom(b, loc, rows->flat, elements, element, number, shared);
  return {buffer, SymbolicSize(1, start)};
}

void sweepColumns(OpBuilder &b, IndexBuilder &indices, Location loc, const SymbolicSize &columns, int64_t lanes,
                  function_ref<void(Value column, Value mask)> body) {
  Value all = indices.get(b, loc, columns), rest = indices.remainder(b, loc, all, lanes);
  Value main = indices.sub(b, loc, all, rest);
  if (!isZeroInteger(main)) {
    auto loop = scf::ForOp::create(b, loc, indices.index(b, 0), main, indices.index(b, lanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), Value());
  }
  if (columns.isStatic()) {
    if (!isZeroInteger(rest))
      body(main, indices.firstLanes(b, lanes, columns.factor % lanes));
  } else if (!columns.isMultipleOf(lanes)) {
    body(main, indices.firstLanes(b, loc, lanes, rest)); // without lanes if there is no rest
  }
}

/// Decides whether loops over rows with accumulators in memory have blocks, and for how many levels of them the stack
/// has space.
void NestEmitter::findBlocksOfRows() {
  if (!hasRowsInMemory() || accumulators.empty() || !hasFloatSums())
    return;
  const SymbolicSize &columns = space.dims[*schedule.vectorDim].size;
  int64_t bytes = 0;
  for (const Accumulator &accumulator : accumulators)
    bytes += columns.factor * bytesOf(accumulator.access->element);
  if (columns.isStatic() && bytes > 0)
    depthOfRows = mostBytesOfRows / bytes;
}

/// The blocks of the loop at `level` over rows, in elements of its dimension.
SmallVector<int64_t> NestEmitter::blocksOfRows(unsigned level) {
  const LoopDim &dim = space.dims[levels[level].dim];
  // A small expected number of rows needs no blocks.
  if (!dim.reduced || level >= reductionLevel || levels[level].kind == Level::Vector ||
      (!hasStaticTrips(level) && dim.size.expected() < leastRows))
    return {};
  SmallVector<int64_t> blocks = blocksOf(level);
  if (int64_t(blocks.size()) > depthOfRows)
    blocks.truncate(depthOfRows);
  return blocks;
}

/// The accumulators of a row in memory, one vector of columns after the other.
void NestEmitter::sweepRows(function_ref<void(const Accumulator &accumulator, Value column)> body) {
  sweepColumns(b, indices, loc, sizeOf(*schedule.vectorDim), schedule.lanes, [&](Value column, Value mask) {
    setLanes(schedule.lanes, mask);
    for (const Accumulator &accumulator : accumulators)
      body(accumulator, column);
    setLanes(0, Value());
  });
}

void NestEmitter::setToNeutral() {
  Instance &instance = instances.front();
  sweepRows([&](const Accumulator &accumulator, Value column) {
    unsigned number = numberOf(*accumulator.access);
    const Access &access = accesses[number];
    const SymbolicSize &stride = access.strides[*schedule.vectorDim];
    Value at = indices.advance(b, loc, instance.position[number], column, stride);
    instance.body.store(loc, indices.constant(b, accumulator.combiner->neutral), access.flat, at, stride);
  });
}

/// The loop at `level` over rows or tiles of rows: in blocks, then in the smallest blocks, then the rest of less than a
/// tile or a block. So tiles of any number of rows add in one order.
void NestEmitter::emitRowsInBlocks(unsigned level) {
  SmallVector<int64_t> blocks = blocksOfRows(level);
  Value end = indices.get(b, loc, sizeOf(levels[level].dim)), begin = indices.index(b, 0);
  auto emit = [&](int64_t unit, ArrayRef<int64_t> blocks) {
    Value to = unit == 1 ? end : indices.sub(b, loc, end, indices.remainder(b, loc, end, unit));
    std::optional<int64_t> first = getConstantIntValue(begin), last = getConstantIntValue(to);
    if (begin != to && !(first && first == last))
      emitBlocksOfRows(level, begin, to, blocks, first == 0 ? last : std::nullopt);
    begin = to;
  };
  // The transposing code is large: one copy of it.
  if (levels[level].kind == Level::TileBlocks && !transposesTiles()) {
    int64_t least = std::max(schedule.tileSize, blockOfRows);
    ArrayRef<int64_t> shortest = ArrayRef(blocks).take_while([&](int64_t block) { return block <= least; });
    hasWholeTiles = true;
    if (blocks.size() > shortest.size())
      emit(blocks[shortest.size()], blocks);
    emit(least, shortest);
    hasWholeTiles = false;
    emit(1, shortest);
  } else {
    emit(1, blocks);
  }
}

NestEmitter::Rows NestEmitter::rowsHere() const { return {accesses, instances.front().position, Rows::Add}; }

/// The same with accumulators of a block: a row for each.
NestEmitter::Rows NestEmitter::rowsAt(ArrayRef<std::pair<Value, SymbolicSize>> places) {
  Rows rows = rowsHere();
  for (auto [accumulator, place] : llvm::zip_equal(accumulators, places)) {
    unsigned number = numberOf(*accumulator.access);
    Access &access = rows.accesses[number];
    access.flat = place.first;
    access.start = place.second;
    access.strides.assign(access.strides.size(), SymbolicSize(0));
    access.strides[*schedule.vectorDim] = SymbolicSize(1);
    rows.position[number] = indices.get(b, loc, access.start);
  }
  return rows;
}

void NestEmitter::useRows(const Rows &rows) {
  llvm::copy(rows.accesses, accesses.begin());
  instances.front().position = rows.position;
}

/// Blocks of rows. Each size of block has its own row of accumulators.
void NestEmitter::emitBlocksOfRows(unsigned level, Value begin, Value end, ArrayRef<int64_t> blocks,
                                   std::optional<int64_t> total) {
  int64_t each = levels[level].kind == Level::TileBlocks ? schedule.tileSize : 1;
  if (blocks.empty()) {
    emitFor(begin, end, each, {}, [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); });
    return;
  }
  int64_t block = blocks.back();
  // Short blocks, and also the next larger ones if steps are light, have no separate sweeps.
  size_t mostJoined = stepsOfBody().operations <= joinedOperations ? 2 : 1;
  size_t joined = hasWholeTiles && blocks.size() <= mostJoined ? blocks.size() : 1;
  SmallVector<SmallVector<std::pair<Value, SymbolicSize>>, 2> places(joined);
  for (auto &rows : places) {
    for (const Accumulator &accumulator : accumulators)
      rows.push_back(placeRows(b, indices, loc, nest, space.dims[*schedule.vectorDim].size.factor,
                               accumulator.access->element,
                               numberOf(*accumulator.access) + accesses.size() * depthOfRows));
    --depthOfRows;
  }
  const Rows totals = rowsHere();
  emitFor(begin, end, block, {}, [&](Value start, ArrayRef<Value>) {
    SmallVector<Rows, 0> rows;
    for (const auto &place : places)
      rows.push_back(rowsAt(place));
    if (hasWholeTiles && blocks.size() == joined) {
      emitJoinedBlock(level, start, blocks, rows, {totals});
      useRows(totals);
      return Values();
    }
    useRows(rows.front());
    setToNeutral();
    emitBlocksOfRows(level, start, endOfBlock(start, block, end, total), blocks.drop_back(), total);
    useRows(totals);
    sweepRows([&](const Accumulator &accumulator, Value column) {
      const Access &row = rows.front().accesses[numberOf(*accumulator.access)];
      Value at = indices.advance(b, loc, indices.get(b, loc, row.start), column, SymbolicSize(1));
      Value value = instances.front().body.load(loc, row.flat, at, SymbolicSize(1));
      addToRows(accumulator, totals, column, value);
    });
    return Values();
  });
  depthOfRows += int64_t(joined);
}

/// A block whose first part, a shorter block or a tile, sets its row, and whose last part continues the sum in
/// `targets`.
void NestEmitter::emitJoinedBlock(unsigned level, Value start, ArrayRef<int64_t> blocks, ArrayRef<Rows> rows,
                                  ArrayRef<Rows> targets) {
  int64_t each = levels[level].kind == Level::TileBlocks ? schedule.tileSize : 1;
  int64_t part = blocks.size() > 1 ? blocks[blocks.size() - 2] : each, block = blocks.back();
  auto emit = [&](Value at, Rows::Kind kind) {
    if (blocks.size() > 1) {
      SmallVector<Rows, 0> next = {rows.back()};
      next.front().kind = kind;
      if (kind == Rows::Pass)
        llvm::append_range(next, targets);
      return emitJoinedBlock(level, at, blocks.drop_back(), rows.drop_back(), next);
    }
    useRows(rows.back());
    setsRows = kind == Rows::Set;
    if (kind == Rows::Pass)
      joinedRows.assign(targets.begin(), targets.end());
    emitStep(level, at, {});
    setsRows = false;
    joinedRows.clear();
  };
  auto at = [&](int64_t distance) { return indices.add(b, loc, start, indices.index(b, distance)); };
  emit(start, Rows::Set);
  if (block > 2 * part)
    emitFor(at(part), at(block - part), part, {}, [&](Value iv, ArrayRef<Value>) {
      emit(iv, Rows::Add);
      return Values();
    });
  emit(at(block - part), Rows::Pass);
}

/// Adds a vector of columns to rows of accumulators, or sets them. Returns the sum.
Value NestEmitter::addToRows(const Accumulator &accumulator, const Rows &rows, Value column, Value value) {
  unsigned number = numberOf(*accumulator.access);
  BodyCloner &body = instances.front().body;
  const Access &access = rows.accesses[number];
  const SymbolicSize &stride = access.strides[*schedule.vectorDim];
  Value at = indices.advance(b, loc, rows.position[number], column, stride);
  if (rows.kind != Rows::Set) {
    Value before = body.load(loc, access.flat, at, stride);
    value = combine(b, *accumulator.combiner, access.argument, before, value);
  }
  if (rows.kind != Rows::Pass)
    body.store(loc, value, access.flat, at, stride);
  return value;
}

} // namespace mlir::array::loops

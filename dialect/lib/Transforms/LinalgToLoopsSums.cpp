// Long reductions in blocks (LinalgToLoopsEmitter.h): each block is reduced from the neutral element on, and then
// combined with the total; blocks consist of smaller ones. The rounding error of a plain sum grows with its length,
// that of nested ones with the sum of their lengths (Higham, Accuracy and Stability of Numerical Algorithms,
// section 4.2): short blocks within blocks lose as little as a sum in pairs, and cost hardly an addition for each of
// the shortest. Where blocks end depends on sizes alone, so that neither threads nor caches change a bit.
#include "LinalgToLoopsEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

/// The steps of the shortest blocks, and how many of these a longer one consists of, and so on. Four equal numbers are
/// added up without an error but that of the third one.
static constexpr int64_t shortestBlock = 4, blocksOfBlock = 4;
/// Where steps fill the time, each block costs some; where they add products by one instruction for both, one more for
/// each block.
static constexpr int64_t blockOfBusySteps = 8, blockOfProducts = 16;
/// Of rows in memory: those of longer blocks may be in the second cache.
static constexpr int64_t blockOfRows = 8;
/// Steps of some registers, of one sum or a sum of products, wait for the sums before: blocks fill the time. A function
/// of the math dialect is many operations; steps of more than so many are not repeated.
static constexpr int64_t waitingRegisters = 4, operationsOfMath = 20, repeatedOperations = 32;
/// The longest blocks where the number of iterations is not known, and how many sizes of blocks a short loop has then.
static constexpr int64_t mostTrips = 8192, shortSizes = 2;
/// Rows that are too few for blocks, where their number is not known, and the operations of steps that are repeated for
/// each place of a block in a longer one.
static constexpr int64_t leastRows = 64, joinedOperations = 4;
/// The accumulators of rows that blocks may have of their own: they lie on the stack.
static constexpr int64_t mostBytesOfRows = 128 << 10;

/// The iterations of the loop at `level` if its dimension has `size` elements. Of tiles, their elements.
int64_t NestEmitter::tripsOf(unsigned level, int64_t size) const {
  switch (levels[level].kind) {
  case Level::Vector:
    return size / strategy.lanes;
  case Level::TileElements:
    return strategy.tileSize;
  default:
    return size;
  }
}

bool NestEmitter::hasStaticTrips(unsigned level) const {
  unsigned dim = levels[level].dim;
  return levels[level].kind == Level::TileElements ||
         (space.dims[dim].size.isStatic() && !(space.cut && space.cut->dim == dim));
}

/// The steps of the accumulators in an iteration of the loop at `level`. Loops whose length is not known count as one
/// step: then blocks are shorter than they had to be.
int64_t NestEmitter::stepsInside(unsigned level) const {
  int64_t steps = 1;
  for (unsigned inner = level + 1; inner < levels.size(); ++inner) {
    bool isTile = levels[inner].kind == Level::TileElements; // which are counted where the tiles are
    if (space.dims[levels[inner].dim].reduced && hasStaticTrips(inner) && !isTile)
      steps *= std::max<int64_t>(tripsOf(inner, space.dims[levels[inner].dim].size.factor), 1);
  }
  return steps;
}

/// What the steps of the innermost loop are like.
NestEmitter::Steps NestEmitter::stepsOfBody() {
  Steps steps;
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    steps.operations +=
        isa<math::MathDialect>(bodyOp.getDialect()) && !isa<math::AbsFOp>(bodyOp) ? operationsOfMath : 1;
  int64_t lanes = std::max<int64_t>(strategy.lanes, 1);
  for (const Accumulator &accumulator : accumulators) {
    steps.registers += llvm::divideCeil(lanes * bytesOf(accumulator.access->element) * 8, strategy.registerBits);
    steps.addsProducts |= llvm::any_of(accumulator.combiner->op->getOperands(), [](Value operand) {
      return isa_and_nonnull<arith::MulFOp>(operand.getDefiningOp());
    });
  }
  auto count = int64_t(instances.size());
  steps.registers *= count;
  steps.wait =
      steps.registers > 1 && steps.registers <= waitingRegisters && steps.operations == (steps.addsProducts ? 2 : 1);
  steps.operations *= count;
  return steps;
}

/// The steps of the shortest blocks in registers.
int64_t NestEmitter::stepsOfBlock() {
  Steps steps = stepsOfBody();
  if (steps.wait || (steps.operations == 1 && steps.registers <= waitingRegisters))
    return shortestBlock;
  return steps.addsProducts && steps.operations <= repeatedOperations ? blockOfProducts : blockOfBusySteps;
}

/// The blocks of the loop at `level`: their iterations, in increasing order, each a multiple of the one before; of rows
/// in memory, their elements. None if the loop is short.
SmallVector<int64_t> NestEmitter::blocksOf(unsigned level) {
  // Tiles of more rows or of less add them in one order.
  if (levels[level].kind == Level::TileElements && !transposesTiles())
    return strategy.tileSize < blockOfRows ? SmallVector<int64_t>() : SmallVector<int64_t>{blockOfRows};
  const Extent &size = space.dims[levels[level].dim].size;
  bool isStatic = hasStaticTrips(level), isRows = hasRowsInMemory() && level < reductionLevel;
  int64_t trips = tripsOf(level, isStatic ? size.factor : factsOfSize(levels[level].dim).max);
  int64_t first = isRows ? blockOfRows : stepsOfBlock(), inside = stepsInside(level);
  while (!isRows && isStatic && first > shortestBlock && 2 * first > trips * inside)
    first /= 2;
  // A tile is a block already.
  int64_t shortest = levels[level].kind == Level::TileBlocks ? strategy.tileSize + 1 : 1;
  SmallVector<int64_t> blocks;
  for (int64_t steps = first;; steps *= blocksOfBlock) {
    int64_t block = steps < inside ? 0 : int64_t(llvm::bit_floor(uint64_t(steps / inside)));
    if (block > trips / 2 || (!isStatic && block > mostTrips))
      return blocks;
    if (block >= shortest && (blocks.empty() || block > blocks.back()))
      blocks.push_back(block);
  }
}

/// The start of a block. The negative zero is what an addition to it folds away.
TypedAttr startOf(const Combiner &combiner) {
  auto zero = dyn_cast<FloatAttr>(combiner.neutral);
  if (!zero || combiner.kind != vector::CombiningKind::ADD)
    return combiner.neutral;
  return FloatAttr::get(zero.getType(), -0.0);
}

/// Whether blocks gain anything, and can be joined: some accumulator is a sum of floats.
bool NestEmitter::hasFloatSums() const {
  return llvm::all_of(accumulators, [](const Accumulator &accumulator) { return accumulator.combiner.has_value(); }) &&
         llvm::any_of(accumulators, [](const Accumulator &accumulator) {
           return accumulator.combiner->kind == vector::CombiningKind::ADD &&
                  isa<FloatType>(accumulator.access->element);
         });
}

Value splat(OpBuilder &b, IndexBuilder &indices, Type type, TypedAttr value) {
  if (auto vector = dyn_cast<VectorType>(type))
    return indices.constant(b, DenseElementsAttr::get(vector, Attribute(value)));
  return indices.constant(b, value);
}

Value combine(OpBuilder &b, const Combiner &combiner, Value accumulator, Value before, Value value) {
  Operation *op = combiner.op->clone();
  // What joins blocks is contracted with no product inside of one, which would make one chain of them.
  if (auto sum = dyn_cast<arith::AddFOp>(op))
    sum.setFastmath(arith::FastMathFlags::none);
  bool isFirst = combiner.op->getOperand(0) == accumulator;
  op->setOperands(isFirst ? ValueRange{before, value} : ValueRange{value, before});
  op->getResult(0).setType(value.getType());
  b.insert(op);
  return op->getResult(0);
}

NestEmitter::Values NestEmitter::neutralValues(ArrayRef<Value> like) {
  Values values;
  for (size_t i = 0; i < like.size(); ++i) {
    size_t number = i % valuesOfInstance();
    Type type = like[i].getType();
    values.push_back(number < accumulators.size()
                         ? splat(b, indices, type, startOf(*accumulators[number].combiner))
                         : indices.constant(b, cast<TypedAttr>(b.getZeroAttr(type)))); // no nans yet
  }
  return values;
}

NestEmitter::Values NestEmitter::combineValues(ArrayRef<Value> totals, ArrayRef<Value> values) {
  Values results;
  for (size_t i = 0; i < totals.size(); ++i) {
    size_t number = i % valuesOfInstance();
    if (number >= accumulators.size()) {
      results.push_back(arith::SelectOp::create(b, loc, areNans(values[i]), values[i], totals[i]));
      continue;
    }
    const Accumulator &accumulator = accumulators[number];
    if (!accumulator.isExtremum) {
      results.push_back(combine(b, *accumulator.combiner, accumulator.access->argument, totals[i], values[i]));
      continue;
    }
    Value ignored = totals[i];
    results.push_back(
        extremeOf(accumulator.combiner->kind, values[i], totals[i], accumulator.hasNans() ? &ignored : nullptr));
  }
  return results;
}

/// The loop at `level` from 0 to `end`, of which each iteration does `each` elements: sums of floats in blocks.
NestEmitter::Values NestEmitter::emitInBlocks(unsigned level, Value end, int64_t each, ArrayRef<Value> carried) {
  Value zero = indices.index(b, 0);
  SmallVector<int64_t> blocks;
  if (!carried.empty() && hasFloatSums() && space.dims[levels[level].dim].reduced)
    blocks = blocksOf(level);
  for (int64_t &block : blocks)
    block *= each;
  std::optional<int64_t> total = getConstantIntValue(end);
  if (total || int64_t(blocks.size()) <= shortSizes || stepsOfBody().operations > repeatedOperations)
    return emitBlocks(level, zero, end, each, blocks, total, carried);
  // A loop that turns out to be short does not go through those over the longest blocks.
  Value isShort = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, end,
                                        indices.index(b, blocksOfBlock * blocks[shortSizes - 1]));
  auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(carried)), isShort, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Values few = emitBlocks(level, zero, end, each, ArrayRef(blocks).take_front(shortSizes), total, carried);
  scf::YieldOp::create(b, loc, few);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, emitBlocks(level, zero, end, each, blocks, total, carried));
  return Values(branch.getResults());
}

/// The loop from `begin` to `end`, in blocks of so many elements, which consist of blocks in turn. `total` is where the
/// whole loop ends, if that is known.
NestEmitter::Values NestEmitter::emitBlocks(unsigned level, Value begin, Value end, int64_t each,
                                            ArrayRef<int64_t> blocks, std::optional<int64_t> total,
                                            ArrayRef<Value> carried) {
  auto step = [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); };
  if (blocks.empty())
    return emitFor(begin, end, each, carried, step);
  int64_t block = blocks.back();
  auto add = [&](Value start, ArrayRef<Value> totals) {
    Values values = neutralValues(totals);
    Value stop = endOfBlock(start, block, end, total);
    if (blocks.size() > 1) {
      values = emitBlocks(level, start, stop, each, blocks.drop_back(), total, values);
    } else if (block == each) {
      values = step(start, values);
    } else {
      // The first step adds to nothing, where that saves time; all stand without a loop if they are one register each.
      Steps steps = stepsOfBody();
      int64_t count = block / each, repeated = 0;
      if (level + 1 == levels.size() && !steps.wait && steps.operations <= repeatedOperations)
        repeated =
            total && *total % block == 0 && steps.registers == 1 && steps.operations * count <= repeatedOperations
                ? count
                : 1;
      for (int64_t i = 0; i < repeated; ++i)
        values = step(indices.add(b, loc, start, indices.index(b, i * each)), values);
      if (repeated == count)
        return combineValues(totals, values);
      start = indices.add(b, loc, start, indices.index(b, repeated * each));
      values = emitFor(start, stop, each, values, step);
    }
    return combineValues(totals, values);
  };
  std::optional<int64_t> from = getConstantIntValue(begin), to = getConstantIntValue(end);
  return from && to && *to - *from == block ? add(begin, carried) : emitFor(begin, end, block, carried, add);
}

/// The rows of a tile that is whole, without a loop if they are light.
std::optional<NestEmitter::Values> NestEmitter::emitWholeTile(unsigned level, ArrayRef<Value> carried) {
  if (!hasWholeTiles || transposesTiles() || carried.empty() || !hasFloatSums() ||
      stepsOfBody().operations * strategy.tileSize > repeatedOperations)
    return std::nullopt;
  bool isBlock = !blocksOf(level).empty();
  Values values = isBlock ? neutralValues(carried) : Values(carried);
  for (int64_t row = 0; row < strategy.tileSize; ++row)
    values = emitStep(level, indices.index(b, row), values);
  return isBlock ? combineValues(carried, values) : values;
}

/// Where a block ends: of blocks that do not fill a loop the last one is shorter.
Value NestEmitter::endOfBlock(Value start, int64_t block, Value end, std::optional<int64_t> total) {
  Value stop = indices.add(b, loc, start, indices.index(b, block));
  return total && *total % block == 0 ? stop : indices.minimum(b, loc, stop, end);
}

//===--- Accumulators in memory -----------------------------------------------------------------------------------===//

std::pair<Value, Extent> placeRows(OpBuilder &b, IndexBuilder &indices, Location loc, const Nest &nest,
                                   int64_t elements, Type element, unsigned number, bool shared) {
  const Access *rows = llvm::find_if(nest.space.inputs(), [&](const Access &access) {
    return !access.scalar && access.moves(*nest.strategy.vectorDim);
  });
  if (!nest.strategy.readsInOrder || rows == nest.space.inputs().end())
    return {indices.scratch(b, MemRefType::get({elements}, element), number, shared), Extent(0)};
  auto [buffer, start] = indices.scratchApartFrom(b, loc, rows->flat, elements, element, number, shared);
  return {buffer, Extent(1, start)};
}

void sweepColumns(OpBuilder &b, IndexBuilder &indices, Location loc, const Extent &columns, int64_t lanes,
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
    body(main, indices.firstLanes(b, loc, lanes, rest)); // of no lanes, if there is no rest
  }
}

/// Whether the loops over rows whose accumulators are rows in memory have blocks, and how deep the stack has place for
/// these.
void NestEmitter::findBlocksOfRows() {
  if (!hasRowsInMemory() || accumulators.empty() || !hasFloatSums())
    return;
  const Extent &columns = space.dims[*strategy.vectorDim].size;
  int64_t bytes = 0;
  for (const Accumulator &accumulator : accumulators)
    bytes += columns.factor * bytesOf(accumulator.access->element);
  if (columns.isStatic() && bytes > 0)
    depthOfRows = mostBytesOfRows / bytes;
}

/// The blocks of the loop at `level` over rows, in elements of its dimension.
SmallVector<int64_t> NestEmitter::blocksOfRows(unsigned level) {
  const LoopDim &dim = space.dims[levels[level].dim];
  // Of few rows, as one expects them, there are none.
  if (!dim.reduced || level >= reductionLevel || levels[level].kind == Level::Vector ||
      (!hasStaticTrips(level) && dim.size.expected() < leastRows))
    return {};
  SmallVector<int64_t> blocks = blocksOf(level);
  if (int64_t(blocks.size()) > depthOfRows)
    blocks.truncate(depthOfRows);
  return blocks;
}

/// The accumulators of a row in memory, a vector of columns after the other.
void NestEmitter::sweepRows(function_ref<void(const Accumulator &accumulator, Value column)> body) {
  sweepColumns(b, indices, loc, sizeOf(*strategy.vectorDim), strategy.lanes, [&](Value column, Value mask) {
    setLanes(strategy.lanes, mask);
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
    const Extent &stride = access.strides[*strategy.vectorDim];
    Value at = indices.advance(b, loc, instance.position[number], column, stride);
    instance.body.store(loc, indices.constant(b, accumulator.combiner->neutral), access.flat, at, stride);
  });
}

/// The loop at `level` over rows or tiles of rows: in blocks, then in the shortest ones, then what is less than a tile
/// or one of these. So tiles of more rows or of less add them in one order.
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
  // The code that transposes is large: one copy of it.
  if (levels[level].kind == Level::TileBlocks && !transposesTiles()) {
    int64_t least = std::max(strategy.tileSize, blockOfRows);
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
NestEmitter::Rows NestEmitter::rowsAt(ArrayRef<std::pair<Value, Extent>> places) {
  Rows rows = rowsHere();
  for (auto [accumulator, place] : llvm::zip_equal(accumulators, places)) {
    unsigned number = numberOf(*accumulator.access);
    Access &access = rows.accesses[number];
    access.flat = place.first;
    access.start = place.second;
    access.strides.assign(access.strides.size(), Extent(0));
    access.strides[*strategy.vectorDim] = Extent(1);
    rows.position[number] = indices.get(b, loc, access.start);
  }
  return rows;
}

void NestEmitter::useRows(const Rows &rows) {
  llvm::copy(rows.accesses, accesses.begin());
  instances.front().position = rows.position;
}

/// Blocks of rows, whose accumulators are a row of their own for each size of block.
void NestEmitter::emitBlocksOfRows(unsigned level, Value begin, Value end, ArrayRef<int64_t> blocks,
                                   std::optional<int64_t> total) {
  int64_t each = levels[level].kind == Level::TileBlocks ? strategy.tileSize : 1;
  if (blocks.empty()) {
    emitFor(begin, end, each, {}, [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); });
    return;
  }
  int64_t block = blocks.back();
  // Short blocks, and those of these if steps are light, have no sweeps of their own.
  size_t mostJoined = stepsOfBody().operations <= joinedOperations ? 2 : 1;
  size_t joined = hasWholeTiles && blocks.size() <= mostJoined ? blocks.size() : 1;
  SmallVector<SmallVector<std::pair<Value, Extent>>, 2> places(joined);
  for (auto &rows : places) {
    for (const Accumulator &accumulator : accumulators)
      rows.push_back(placeRows(b, indices, loc, nest, space.dims[*strategy.vectorDim].size.factor,
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
      Value at = indices.advance(b, loc, indices.get(b, loc, row.start), column, Extent(1));
      Value value = instances.front().body.load(loc, row.flat, at, Extent(1));
      addToRows(accumulator, totals, column, value);
    });
    return Values();
  });
  depthOfRows += int64_t(joined);
}

/// A block whose first part, a shorter block or a tile, sets its row, and whose last part goes on with the sum to
/// `targets`.
void NestEmitter::emitJoinedBlock(unsigned level, Value start, ArrayRef<int64_t> blocks, ArrayRef<Rows> rows,
                                  ArrayRef<Rows> targets) {
  int64_t each = levels[level].kind == Level::TileBlocks ? strategy.tileSize : 1;
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

/// Adds a vector of columns to rows of accumulators, or sets these. Returns the sum.
Value NestEmitter::addToRows(const Accumulator &accumulator, const Rows &rows, Value column, Value value) {
  unsigned number = numberOf(*accumulator.access);
  BodyCloner &body = instances.front().body;
  const Access &access = rows.accesses[number];
  const Extent &stride = access.strides[*strategy.vectorDim];
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

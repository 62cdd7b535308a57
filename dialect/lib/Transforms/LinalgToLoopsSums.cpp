// Long reductions in blocks (LinalgToLoopsEmitter.h): each block is reduced from the neutral element on, and then
// combined with the total; blocks consist of smaller ones. The rounding error of a plain sum grows with its length, that
// of nested ones with the sum of their lengths (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2): so
// short blocks within blocks lose hardly more than a sum in pairs, and cost an addition for each of the shortest. Where
// blocks end depends on sizes alone, so that neither threads nor caches change a bit.
#include "LinalgToLoopsEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

/// The steps of the shortest blocks, and how many blocks a longer one consists of.
static constexpr int64_t stepsOfBlock = 8, blocksOfBlock = 16;
/// The rows of the shortest blocks whose accumulators are a row in memory, which costs more to begin and to add. The
/// tiles of rows are blocks as well.
static constexpr int64_t rowsOfBlock = 64;
/// A sum of less steps has no blocks.
static constexpr int64_t leastSteps = 32;
/// How deep blocks are nested where the number of steps is not known.
static constexpr int64_t dynamicDepth = 3;
/// The accumulators of a row that a block may have of its own: they lie on the stack.
static constexpr int64_t mostBytesOfRow = 128 << 10;

/// The iterations of the loop at `level` if its dimension has `size` elements.
int64_t NestEmitter::tripsOf(unsigned level, int64_t size) const {
  switch (levels[level].kind) {
  case Level::Vector:
    return llvm::divideCeil(size, strategy.lanes);
  case Level::TileElements: // counted where the tiles are
    return 1;
  default:
    return size;
  }
}

bool NestEmitter::hasStaticTrips(unsigned level) const {
  unsigned dim = levels[level].dim;
  return levels[level].kind == Level::TileElements ||
         (space.dims[dim].size.isStatic() && !(space.cut && space.cut->dim == dim));
}

/// The iterations of the loop at `level` that are a block, of each size, in increasing order; none when the loop has no
/// blocks, or sizes are not known.
SmallVector<int64_t> NestEmitter::staticBlocks(unsigned level) const {
  int64_t trips = tripsOf(level, space.dims[levels[level].dim].size.factor), inside = 1;
  for (unsigned inner = level; inner < levels.size(); ++inner) {
    if (!space.dims[levels[inner].dim].reduced)
      continue;
    if (!hasStaticTrips(inner))
      return {};
    inside *= inner == level ? 1 : tripsOf(inner, space.dims[levels[inner].dim].size.factor);
  }
  SmallVector<int64_t> blocks;
  if (inside == 0 || trips < llvm::divideCeil(leastSteps, inside))
    return blocks;
  for (int64_t steps = hasRowsInMemory() ? rowsOfBlock : stepsOfBlock;; steps *= blocksOfBlock) {
    int64_t block = unitsOfBlock(level, llvm::divideCeil(steps, inside));
    if (block > trips / 2)
      return blocks;
    if (blocks.empty() || block > blocks.back())
      blocks.push_back(block);
  }
}

/// A number of iterations, rounded up to whole tiles where there are some.
int64_t NestEmitter::unitsOfBlock(unsigned level, int64_t block) const {
  return levels[level].kind == Level::TileBlocks ? llvm::alignTo(block, strategy.tileSize) : block;
}

/// The same for sizes that may not be known. Of a loop whose length is not known all may be one block.
NestEmitter::Values NestEmitter::blocksOf(unsigned level) {
  Values blocks;
  for (int64_t block : staticBlocks(level))
    blocks.push_back(indices.index(b, block));
  if (!blocks.empty() || hasStaticTrips(level) || tripsOf(level, factsOfSize(levels[level].dim).max - 1) < leastSteps)
    return blocks;
  Value inside = indices.index(b, 1);
  for (unsigned inner = level + 1; inner < levels.size(); ++inner) {
    if (!space.dims[levels[inner].dim].reduced || levels[inner].kind == Level::TileElements)
      continue;
    int64_t each = levels[inner].kind == Level::Vector ? strategy.lanes : 1;
    Value size = indices.get(b, loc, sizeOf(levels[inner].dim));
    inside = indices.mul(b, loc, inside, indices.ceilDiv(b, loc, size, indices.index(b, each)));
  }
  inside = indices.maximum(b, loc, inside, indices.index(b, 1));
  int64_t steps = hasRowsInMemory() ? rowsOfBlock : stepsOfBlock;
  for (int64_t depth = 0; depth < dynamicDepth; ++depth, steps *= blocksOfBlock) {
    Value block = indices.ceilDiv(b, loc, indices.index(b, steps), inside);
    if (Value unit = indices.index(b, unitsOfBlock(level, 1)); !isOneInteger(unit))
      block = indices.mul(b, loc, indices.ceilDiv(b, loc, block, unit), unit);
    blocks.push_back(block);
  }
  return blocks;
}

/// The start of a block. The negative zero is what an addition to it folds away.
static TypedAttr startOf(const Combiner &combiner) {
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

/// The loop at `level` from `begin` to `end`, of which each iteration does `each` elements, in blocks of so many
/// elements, which consist of blocks in turn. `total` is where the whole loop ends, if that is known.
NestEmitter::Values NestEmitter::emitBlocks(unsigned level, Value begin, Value end, int64_t each,
                                            ArrayRef<Value> blocks, std::optional<int64_t> total,
                                            ArrayRef<Value> carried) {
  auto step = [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); };
  if (blocks.empty())
    return emitFor(begin, end, each, carried, step);
  Value block = blocks.back();
  std::optional<int64_t> length = getConstantIntValue(block);
  return emitFor(begin, end, block, carried, [&](Value start, ArrayRef<Value> totals) {
    Values values = neutralValues(totals);
    if (length == each)
      return combineValues(totals, step(start, values));
    Value stop = endOfBlock(start, block, end, total);
    return combineValues(totals, emitBlocks(level, start, stop, each, blocks.drop_back(), total, values));
  });
}

/// Where a block ends: of blocks that do not fill a loop the last one is shorter.
Value NestEmitter::endOfBlock(Value start, Value block, Value end, std::optional<int64_t> total) {
  Value stop = indices.add(b, loc, start, block);
  std::optional<int64_t> length = getConstantIntValue(block);
  return total && length && *total % *length == 0 ? stop : indices.minimum(b, loc, stop, end);
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

/// The level whose iterations form blocks, where the accumulators are rows in memory: the innermost loop over rows that
/// is long enough.
void NestEmitter::findBlocksOfRows() {
  if (!hasRowsInMemory() || accumulators.empty() || !hasFloatSums())
    return;
  const Extent &columns = space.dims[*strategy.vectorDim].size;
  int64_t bytes = 0;
  for (const Accumulator &accumulator : accumulators)
    bytes += columns.factor * bytesOf(accumulator.access->element);
  if (!columns.isStatic() || bytes > mostBytesOfRow)
    return;
  // Of few rows, as one expects them, there are none.
  auto hasBlocks = [&](unsigned level) {
    return !staticBlocks(level).empty() ||
           (!hasStaticTrips(level) && space.dims[levels[level].dim].size.expected() >= 2 * rowsOfBlock);
  };
  for (unsigned level = levels.size(); level-- > 0 && !rowsLevel;)
    if (levels[level].kind != Level::TileElements && space.dims[levels[level].dim].reduced && hasBlocks(level))
      rowsLevel = level;
  depthOfRows = bytes == 0 ? 0 : mostBytesOfRow / bytes;
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

/// Blocks of rows, whose accumulators are a row of their own for each size of block. Where the stack has no place for
/// all of these, it is the shorter blocks that there are.
void NestEmitter::emitBlocksOfRows(unsigned level) {
  Extent size = sizeOf(levels[level].dim);
  Values blocks = blocksOf(level);
  if (int64_t(blocks.size()) > depthOfRows)
    blocks.truncate(depthOfRows);
  std::optional<int64_t> total;
  if (size.isStatic())
    total = size.factor;
  emitBlocksOfRows(level, indices.index(b, 0), indices.get(b, loc, size), blocks, total);
}

void NestEmitter::emitBlocksOfRows(unsigned level, Value begin, Value end, ArrayRef<Value> blocks,
                                   std::optional<int64_t> total) {
  if (blocks.empty()) {
    int64_t each = levels[level].kind == Level::TileBlocks ? strategy.tileSize : 1;
    emitFor(begin, end, each, {}, [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); });
    return;
  }
  unsigned dim = *strategy.vectorDim;
  Instance &instance = instances.front();
  SmallVector<Access, 4> totals = accesses;
  SmallVector<Value> position = instance.position;
  SmallVector<std::pair<Value, Extent>> places;
  for (const Accumulator &accumulator : accumulators)
    places.push_back(placeRows(b, indices, loc, nest, space.dims[dim].size.factor, accumulator.access->element,
                               numberOf(*accumulator.access) + accesses.size() * blocks.size()));
  emitFor(begin, end, blocks.back(), {}, [&](Value start, ArrayRef<Value>) {
    for (auto [accumulator, place] : llvm::zip_equal(accumulators, places)) {
      unsigned number = numberOf(*accumulator.access);
      Access &access = accesses[number];
      access.flat = place.first;
      access.start = place.second;
      access.strides.assign(access.strides.size(), Extent(0));
      access.strides[dim] = Extent(1);
      instance.position[number] = indices.get(b, loc, access.start);
    }
    setToNeutral();
    emitBlocksOfRows(level, start, endOfBlock(start, blocks.back(), end, total), blocks.drop_back(), total);
    SmallVector<Access, 4> rows(accesses);
    llvm::copy(totals, accesses.begin());
    instance.position = position;
    sweepRows([&](const Accumulator &accumulator, Value column) {
      unsigned number = numberOf(*accumulator.access);
      const Access &whole = accesses[number];
      Value at = indices.advance(b, loc, position[number], column, whole.strides[dim]);
      Value before = instance.body.load(loc, whole.flat, at, whole.strides[dim]);
      Value row = indices.advance(b, loc, indices.get(b, loc, rows[number].start), column, Extent(1));
      Value value = instance.body.load(loc, rows[number].flat, row, Extent(1));
      value = combine(b, *accumulator.combiner, whole.argument, before, value);
      instance.body.store(loc, value, whole.flat, at, whole.strides[dim]);
    });
    return Values();
  });
}

} // namespace mlir::array::loops

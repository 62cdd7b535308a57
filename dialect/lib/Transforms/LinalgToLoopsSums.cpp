// Long reductions in blocks (LinalgToLoopsEmitter.h): each block is reduced from the neutral element on, and then
// combined with the total. The rounding error of a plain sum grows with its length, that of two nested ones with their
// lengths' sum (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). Where the blocks end depends on
// sizes alone, so that neither threads nor caches change a bit.
#include "LinalgToLoopsEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

namespace mlir::array::loops {

/// The least steps of a block. A very long sum has about as many blocks as there are steps in each.
static constexpr int64_t stepsOfBlock = 128;
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

/// The iterations of the loop at `level` that are a block; 0 when the loop has no blocks, or sizes are not known.
int64_t NestEmitter::staticIterationsOfBlock(unsigned level) const {
  int64_t trips = tripsOf(level, space.dims[levels[level].dim].size.factor), inside = 1;
  for (unsigned inner = level; inner < levels.size(); ++inner) {
    if (!space.dims[levels[inner].dim].reduced)
      continue;
    if (!hasStaticTrips(inner))
      return 0;
    inside *= inner == level ? 1 : tripsOf(inner, space.dims[levels[inner].dim].size.factor);
  }
  if (trips * inside < 2 * stepsOfBlock)
    return 0;
  int64_t steps = std::max<int64_t>(stepsOfBlock, llvm::PowerOf2Ceil(std::sqrt(double(trips) * double(inside))));
  int64_t block = llvm::divideCeil(steps, inside);
  if (levels[level].kind == Level::TileBlocks)
    block = llvm::alignTo(block, stepsOfBlock); // of whole tiles
  return block * 2 <= trips ? block : 0;
}

/// The same for sizes that may not be known; null when the loop has no blocks. Of a loop whose length is not known all
/// may be one block.
Value NestEmitter::iterationsOfBlock(unsigned level) {
  if (int64_t block = staticIterationsOfBlock(level))
    return indices.index(b, block);
  if (hasStaticTrips(level) || tripsOf(level, factsOfSize(levels[level].dim).max - 1) < 2 * stepsOfBlock)
    return {};
  auto trips = [&](unsigned l) -> Value {
    int64_t each = levels[l].kind == Level::Vector ? strategy.lanes : 1;
    if (levels[l].kind == Level::TileElements)
      return indices.index(b, 1);
    return indices.ceilDiv(b, loc, indices.get(b, loc, sizeOf(levels[l].dim)), indices.index(b, each));
  };
  Value inside = indices.index(b, 1);
  for (unsigned inner = level + 1; inner < levels.size(); ++inner)
    if (space.dims[levels[inner].dim].reduced)
      inside = indices.mul(b, loc, inside, trips(inner));
  // A power of two that is next to the root.
  Value all = indices.mul(b, loc, trips(level), inside);
  Value steps = indices.once(b, loc, "root", {all, indices.index(b, 65), indices.index(b, 1)}, [&](OpBuilder &at) {
    Value zeros = math::CountLeadingZerosOp::create(at, loc, arith::IndexCastOp::create(at, loc, at.getI64Type(), all));
    zeros = arith::IndexCastOp::create(at, loc, at.getIndexType(), zeros);
    Value half = arith::SubIOp::create(at, loc, indices.index(b, 65), zeros);
    half = arith::ShRUIOp::create(at, loc, half, indices.index(b, 1));
    return arith::ShLIOp::create(at, loc, indices.index(b, 1), half).getResult();
  });
  steps = indices.maximum(b, loc, steps, indices.index(b, stepsOfBlock));
  Value block = indices.ceilDiv(b, loc, steps, inside);
  if (levels[level].kind == Level::TileBlocks) { // of whole tiles
    Value unit = indices.index(b, stepsOfBlock);
    block = indices.mul(b, loc, indices.ceilDiv(b, loc, block, unit), unit);
  }
  return block;
}

/// Whether blocks gain anything, and can be joined: some accumulator is a sum of floats.
bool NestEmitter::hasFloatSums() const {
  return llvm::all_of(accumulators, [](const Accumulator &accumulator) { return accumulator.combiner.has_value(); }) &&
         llvm::any_of(accumulators, [](const Accumulator &accumulator) {
           return accumulator.combiner->kind == vector::CombiningKind::ADD &&
                  isa<FloatType>(accumulator.access->element);
         });
}

static Value splat(OpBuilder &b, IndexBuilder &indices, Type type, TypedAttr value) {
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
                         ? splat(b, indices, type, accumulators[number].combiner->neutral)
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

/// The loop at `level` from 0 to `end`, of which each iteration does `each` elements, in blocks of `block` elements.
NestEmitter::Values NestEmitter::emitBlocks(unsigned level, Value end, int64_t each, Value block,
                                            ArrayRef<Value> carried) {
  auto step = [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); };
  std::optional<int64_t> all = getConstantIntValue(end), length = getConstantIntValue(block);
  return emitFor(indices.index(b, 0), end, block, carried, [&](Value start, ArrayRef<Value> totals) {
    Values values = neutralValues(totals);
    if (length == each)
      return combineValues(totals, step(start, values));
    Value stop = indices.add(b, loc, start, block);
    if (!all || !length || *all % *length != 0)
      stop = indices.minimum(b, loc, stop, end);
    return combineValues(totals, emitFor(start, stop, each, values, step));
  });
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
  if (!strategy.tileDim || !space.dims[*strategy.tileDim].reduced || accumulators.empty() || !hasFloatSums())
    return;
  const Extent &columns = space.dims[*strategy.vectorDim].size;
  int64_t bytes = 0;
  for (const Accumulator &accumulator : accumulators)
    bytes += columns.factor * bytesOf(accumulator.access->element);
  if (!columns.isStatic() || bytes > mostBytesOfRow)
    return;
  // Of few rows, as one expects them, there are none.
  auto hasBlocks = [&](unsigned level) {
    return staticIterationsOfBlock(level) > 0 ||
           (!hasStaticTrips(level) && space.dims[levels[level].dim].size.expected() >= 2 * stepsOfBlock);
  };
  for (unsigned level = levels.size(); level-- > 0 && !rowsLevel;)
    if (levels[level].kind != Level::TileElements && space.dims[levels[level].dim].reduced && hasBlocks(level))
      rowsLevel = level;
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

/// Blocks of rows, whose accumulators are a row of their own.
void NestEmitter::emitBlocksOfRows(unsigned level) {
  Extent size = sizeOf(levels[level].dim);
  Value block = iterationsOfBlock(level), last = indices.get(b, loc, size);
  std::optional<int64_t> length = getConstantIntValue(block);
  int64_t each = levels[level].kind == Level::TileBlocks ? strategy.tileSize : 1;
  unsigned dim = *strategy.vectorDim;
  Instance &instance = instances.front();
  SmallVector<Access, 4> totals = accesses;
  SmallVector<Value> position = instance.position;
  SmallVector<std::pair<Value, Extent>> places;
  for (const Accumulator &accumulator : accumulators)
    places.push_back(placeRows(b, indices, loc, nest, space.dims[dim].size.factor, accumulator.access->element,
                               numberOf(*accumulator.access)));
  emitFor(indices.index(b, 0), last, block, {}, [&](Value start, ArrayRef<Value>) {
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
    Value stop = indices.add(b, loc, start, block);
    if (!size.isStatic() || !length || size.factor % *length != 0)
      stop = indices.minimum(b, loc, stop, last);
    emitFor(start, stop, each, {}, [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); });
    SmallVector<Access, 4> rows(accesses);
    llvm::copy(totals, accesses.begin());
    instance.position = position;
    sweepRows([&](const Accumulator &accumulator, Value column) {
      unsigned number = numberOf(*accumulator.access);
      const Access &total = accesses[number];
      Value at = indices.advance(b, loc, position[number], column, total.strides[dim]);
      Value before = instance.body.load(loc, total.flat, at, total.strides[dim]);
      Value row = indices.advance(b, loc, indices.get(b, loc, rows[number].start), column, Extent(1));
      Value value = instance.body.load(loc, rows[number].flat, row, Extent(1));
      value = combine(b, *accumulator.combiner, total.argument, before, value);
      instance.body.store(loc, value, total.flat, at, total.strides[dim]);
    });
    return Values();
  });
}

} // namespace mlir::array::loops

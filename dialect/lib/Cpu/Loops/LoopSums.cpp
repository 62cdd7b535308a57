// Long reductions in blocks (NestEmitter.h): each block is reduced from the neutral element on, and then combined with
// the total; blocks consist of smaller ones. The rounding error of a plain sum grows with its length, that of nested
// ones with the sum of their lengths (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). Short
// blocks within blocks lose as little as a pairwise sum, and cost hardly an addition for each of the shortest. The ends
// of blocks depend on sizes alone, so neither threads nor caches change a bit.
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array::loops {

/// The steps of the shortest blocks.
static constexpr int64_t shortestBlock = 4;
/// Minimum sizes of blocks: if steps are compute-bound, each block costs extra time; if they add products by one
/// instruction, each block costs one extra instruction.
static constexpr int64_t blockOfBusySteps = 8, blockOfProducts = 16;
/// Steps with few registers, of one sum or a sum of products, wait for earlier sums, so blocks cost nothing. A function
/// of the math dialect counts as many operations. Longer steps are not duplicated.
static constexpr int64_t waitingRegisters = 4, operationsOfMath = 20, repeatedOperations = 32;
/// The largest blocks if the number of iterations is not known, and the number of block sizes of a short loop in this
/// case.
static constexpr int64_t mostTrips = 8192, shortSizes = 2;

/// The iterations of the loop at `level` if its dimension has `size` elements; for tiles, their elements.
int64_t NestEmitter::tripsOf(unsigned level, int64_t size) const {
  switch (levels[level].kind) {
  case Level::Vector:
    return size / schedule.lanes;
  case Level::TileElements:
    return schedule.tileSize;
  default:
    return size;
  }
}

bool NestEmitter::hasStaticTrips(unsigned level) const {
  unsigned dim = levels[level].dim;
  return levels[level].kind == Level::TileElements ||
         (space.dims[dim].size.isStatic() && !(space.blocked && space.blocked->dim == dim));
}

/// The steps of the accumulators in an iteration of the loop at `level`. Loops of unknown length count as one step;
/// then blocks are shorter than necessary.
int64_t NestEmitter::stepsInside(unsigned level) const {
  int64_t steps = 1;
  for (unsigned inner = level + 1; inner < levels.size(); ++inner) {
    bool isTile = levels[inner].kind == Level::TileElements; // counted with the tiles
    if (space.dims[levels[inner].dim].reduced && hasStaticTrips(inner) && !isTile)
      steps *= std::max<int64_t>(tripsOf(inner, space.dims[levels[inner].dim].size.factor), 1);
  }
  return steps;
}

/// The properties of the innermost loop's steps.
NestEmitter::Steps NestEmitter::stepsOfBody() {
  Steps steps;
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    steps.operations +=
        isa<math::MathDialect>(bodyOp.getDialect()) && !isa<math::AbsFOp>(bodyOp) ? operationsOfMath : 1;
  int64_t lanes = std::max<int64_t>(schedule.lanes, 1);
  for (const Accumulator &accumulator : accumulators) {
    steps.registers += llvm::divideCeil(lanes * bytesOf(accumulator.access->element) * 8, schedule.registerBits);
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

/// The blocks of the loop at `level`: their iterations, in increasing order, each a multiple of the one before; for
/// rows in memory, their elements. None if the loop is short.
SmallVector<int64_t> NestEmitter::blocksOf(unsigned level) {
  // Tiles of any number of rows add in one order.
  if (levels[level].kind == Level::TileElements && !transposesTiles())
    return schedule.tileSize < blockOfRows ? SmallVector<int64_t>() : SmallVector<int64_t>{blockOfRows};
  const SymbolicSize &size = space.dims[levels[level].dim].size;
  bool isStatic = hasStaticTrips(level), isRows = hasRowsInMemory() && level < reductionLevel;
  int64_t trips = tripsOf(level, isStatic ? size.factor : factsOfSize(levels[level].dim).max);
  int64_t first = isRows ? blockOfRows : stepsOfBlock(), inside = stepsInside(level);
  while (!isRows && isStatic && first > shortestBlock && 2 * first > trips * inside)
    first /= 2;
  // A tile is a block already.
  int64_t shortest = levels[level].kind == Level::TileBlocks ? schedule.tileSize + 1 : 1;
  SmallVector<int64_t> blocks;
  for (int64_t steps = first;; steps *= blocksOfBlock) {
    int64_t block = steps < inside ? 0 : int64_t(llvm::bit_floor(uint64_t(steps / inside)));
    if (block > trips / 2 || (!isStatic && block > mostTrips))
      return blocks;
    if (block >= shortest && (blocks.empty() || block > blocks.back()))
      blocks.push_back(block);
  }
}

/// The start of a block: negative zero, because an addition to it folds away.
TypedAttr startOf(const Combiner &combiner) {
  auto zero = dyn_cast<FloatAttr>(combiner.neutral);
  if (!zero || combiner.kind != vector::CombiningKind::ADD)
    return combiner.neutral;
  return FloatAttr::get(zero.getType(), -0.0);
}

/// Whether blocks improve anything, and can be joined: some accumulator is a sum of floats.
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
  // The operation that joins blocks is not contracted with a product inside of one, which would make one chain of them.
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

/// The loop at `level` from 0 to `end`, with `each` elements in an iteration: sums of floats in blocks.
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
  // A loop that is short at run time skips the loops over the largest blocks.
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

/// The loop from `begin` to `end`, in blocks of this many elements, which consist of smaller blocks. `total` is the end
/// of the whole loop, if it is known.
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
      // The first step does not add, if that saves time; steps of one register each are unrolled completely.
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

/// The rows of a whole tile, unrolled completely if they are light.
std::optional<NestEmitter::Values> NestEmitter::emitWholeTile(unsigned level, ArrayRef<Value> carried) {
  if (!hasWholeTiles || transposesTiles() || carried.empty() || !hasFloatSums() ||
      stepsOfBody().operations * schedule.tileSize > repeatedOperations)
    return std::nullopt;
  bool isBlock = !blocksOf(level).empty();
  Values values = isBlock ? neutralValues(carried) : Values(carried);
  for (int64_t row = 0; row < schedule.tileSize; ++row)
    values = emitStep(level, indices.index(b, row), values);
  return isBlock ? combineValues(carried, values) : values;
}

/// The end of a block: the last block of a loop may be shorter.
Value NestEmitter::endOfBlock(Value start, int64_t block, Value end, std::optional<int64_t> total) {
  Value stop = indices.add(b, loc, start, indices.index(b, block));
  return total && *total % block == 0 ? stop : indices.minimum(b, loc, stop, end);
}

} // namespace mlir::array::loops

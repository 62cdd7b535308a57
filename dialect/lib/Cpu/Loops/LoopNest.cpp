// The order of the loops, the operations at each level, and the plain loop (NestEmitter.h).
#include "Analysis/ParallelLoops.h"
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::array::loops {

//===--- Order and levels -----------------------------------------------------------------------------------------===//

void NestEmitter::orderLoops() {
  auto isPlain = [&](unsigned d) { return schedule.vectorDim != d && schedule.tileDim != d && schedule.jamDim != d; };
  auto append = [&](bool reduced, bool inside = false) {
    for (unsigned d = 0; d < space.dims.size(); ++d)
      if (space.dims[d].reduced == reduced && isPlain(d) && schedule.isUnrolled(d) == inside)
        levels.push_back({d, inside ? Level::Unrolled : Level::Scalar});
  };
  append(/*reduced=*/false);
  if (schedule.tileDim) {
    append(/*reduced=*/true);
    levels.push_back({*schedule.tileDim, Level::TileBlocks});
    levels.push_back({*schedule.vectorDim, Level::Vector});
    reductionLevel = levels.size() + (space.dims[*schedule.tileDim].reduced ? 0 : 1);
    levels.push_back({*schedule.tileDim, Level::TileElements});
  } else {
    if (schedule.jamDim)
      levels.push_back({*schedule.jamDim, Level::Jam});
    if (schedule.vectorDim && !isVectorReduced())
      levels.push_back({*schedule.vectorDim, Level::Vector});
    append(/*reduced=*/false, /*inside=*/true);
    reductionLevel = levels.size();
    append(/*reduced=*/true);
    append(/*reduced=*/true, /*inside=*/true);
    if (isVectorReduced())
      levels.push_back({*schedule.vectorDim, Level::Vector});
  }
}

unsigned NestEmitter::levelOf(Value bodyValue) {
  if (auto argument = dyn_cast<BlockArgument>(bodyValue))
    return argument.getOwner() == op.getBlock() ? accessLevels[argument.getArgNumber()] : 0;
  return opLevels.lookup(bodyValue.getDefiningOp());
}

void NestEmitter::assignLevels() {
  for (const Access &access : accesses) {
    unsigned level = access.isOutput ? levels.size() : 0;
    for (auto [l, entry] : llvm::enumerate(levels))
      if (access.moves(entry.dim))
        level = std::max<unsigned>(level, l + 1);
    accessLevels.push_back(level);
  }
  opsOfLevel.resize(levels.size() + 1);
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    unsigned level = bodyOp.getNumRegions() ? levels.size() : 0;
    for (Value operand : bodyOp.getOperands())
      level = std::max(level, levelOf(operand));
    if (auto index = dyn_cast<linalg::IndexOp>(bodyOp))
      for (auto [l, entry] : llvm::enumerate(levels))
        if (space.dims[entry.dim].indexSource == index.getDim())
          level = l + 1;
    opLevels[&bodyOp] = level;
    opsOfLevel[level].push_back(&bodyOp);
  }
}

/// Memrefs that the body loads from become flat views before the loops.
void NestEmitter::mapCaptures(BodyCloner &body) {
  SmallPtrSet<Value, 4> seen;
  for (auto load : op.getBlock()->getOps<memref::LoadOp>()) {
    Value memref = load.getMemRef();
    if (schedule.vectorDim && seen.insert(memref).second)
      body.mapMemref(memref, *flatten(b, loc, indices, memref, sizesOf(b, loc, indices, memref)));
  }
}

SymbolicSize NestEmitter::sizeOf(unsigned dim) const {
  bool isBlock = space.blocked && space.blocked->dim == dim && lengthOfBlock;
  return isBlock ? SymbolicSize(1, lengthOfBlock) : space.dims[dim].size;
}

SizeFacts NestEmitter::factsOfSize(unsigned dim) const {
  SizeFacts facts = space.dims[dim].size.facts();
  if (space.blocked && space.blocked->dim == dim)
    facts.multipleOf = std::gcd(facts.multipleOf, space.blocked->total.facts().multipleOf);
  return facts;
}

//===--- Levels ---------------------------------------------------------------------------------------------------===//

void NestEmitter::prepare(double cost) {
  nestNs = cost;
  repeats = mayRepeat();
  orderLoops();
  if (reductionLevel < levels.size())
    findAccumulators();
  findBlocksOfRows();
  findSearch();
  assignLevels();
  Instance &instance = instances.emplace_back(Instance{BodyCloner(b, indices, schedule.registerBits), {}});
  mapCaptures(instance.body);
  for (const Access &access : accesses)
    instance.position.push_back(access.scalar ? Value() : indices.get(b, loc, access.start));
}

NestEmitter::Values NestEmitter::emitLevel(unsigned level, ArrayRef<Value> carried) {
  for (auto [i, instance] : llvm::enumerate(instances))
    emitEntered(level, instance,
                carried.slice(i * carried.size() / instances.size(), carried.size() / instances.size()));
  if (level == levels.size())
    return emitInnermost(carried);
  if (level == 1 && startsFromNeutral)
    setToNeutral();
  if (level != reductionLevel)
    return emitLoop(level, carried);
  if (search)
    emitSearch(level);
  else
    finishAccumulators(emitLoop(level, startAccumulators()));
  return {};
}

/// The elements of an input if another one, or an earlier instance, has loaded them from the same memory.
Value NestEmitter::loadedBefore(unsigned level, const Instance &instance, const Access &access) const {
  if (!schedule.jamDim)
    return Value();
  int64_t own = &instance - instances.begin();
  for (int64_t number = 0; number <= own; ++number)
    for (const Access &other : inputs()) {
      if (number == own && numberOf(other) == numberOf(access))
        break;
      if (accessLevels[numberOf(other)] == level && !other.argument.use_empty() &&
          isShifted(space, access, other, *schedule.jamDim, own - number))
        return instances[number].body.mapped(other.argument);
    }
  return Value();
}

/// Emits operations that are invariant in the inner loops: loads, and the body's operations on them.
void NestEmitter::emitEntered(unsigned level, Instance &instance, ArrayRef<Value> carried) {
  for (const Access &access : inputs()) {
    if (accessLevels[numberOf(access)] != level || access.argument.use_empty())
      continue;
    if (schedule.jamDim && &instance != &instances.front() && !access.moves(*schedule.jamDim))
      instance.body.map(access.argument, instances.front().body.lookup(access.argument));
    else if (Value loaded = loadedBefore(level, instance, access))
      instance.body.map(access.argument, loaded);
    else
      instance.body.map(access.argument, access.scalar ? access.scalar : load(instance, access));
    if (level == levels.size() && !access.scalar && fetchesAhead)
      prefetch(instance, access);
  }
  if (level == levels.size() && !search) {
    for (const Access &access : outputs())
      if (!isAccumulated(access) && !access.argument.use_empty())
        instance.body.map(access.argument, load(instance, access));
    for (auto [accumulator, value] : llvm::zip(accumulators, carried))
      instance.body.map(accumulator.access->argument, value);
  }
  for (Operation *bodyOp : opsOfLevel[level]) {
    if (llvm::any_of(accumulators, [&](const Accumulator &a) { return a.isExtremum && a.combiner->op == bodyOp; }))
      continue;
    if (search && !search->operations.contains(bodyOp))
      continue;
    if (!isa<linalg::IndexOp>(bodyOp))
      instance.body.clone(bodyOp);
    else if (level == 0) // of a dimension with one element
      instance.body.map(bodyOp->getResult(0), indices.index(b, 0));
  }
}

NestEmitter::Values NestEmitter::emitInnermost(ArrayRef<Value> carried) {
  Values results;
  if (search) {
    BodyCloner &body = instances.front().body;
    Values next(carried);
    Value x = body.lookupVector(search->candidate);
    if (body.getMask())
      x = arith::SelectOp::create(b, loc, body.getMask(), x, carried[0]);
    next[0] = extremeOf(search->arg.kind, x, carried[0], carried.size() > 1 ? &next[1] : nullptr);
    return next;
  }
  for (Instance &instance : instances) {
    for (const Access &access : outputs())
      if (!isAccumulated(access))
        store(instance, access,
              instance.body.lookup(op.getBlock()->getTerminator()->getOperand(numberOf(access) - space.numInputs)));
    nextAccumulators(instance, carried.take_front(valuesOfInstance()), results);
    carried = carried.drop_front(valuesOfInstance());
  }
  return results;
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

NestEmitter::Values NestEmitter::emitLoop(unsigned level, ArrayRef<Value> carried) {
  auto loop = [&](int64_t by) {
    Value size = indices.get(b, loc, sizeOf(levels[level].dim));
    if (!carried.empty())
      return emitInBlocks(level, size, by, carried);
    return emitLevelFor(level, indices.index(b, 0), size, by, carried,
                        [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); });
  };
  if (hasRowsInMemory() && space.dims[levels[level].dim].reduced && level < reductionLevel) {
    emitRowsInBlocks(level);
    return {};
  }
  switch (levels[level].kind) {
  case Level::Scalar:
    return loop(1);
  case Level::Unrolled:
    return emitUnrolled(level, carried);
  case Level::TileBlocks:
    return loop(schedule.tileSize);
  case Level::Vector:
    return emitVectorLoop(level, carried);
  case Level::TileElements:
    return emitTileElements(level, carried);
  case Level::Jam:
    emitJammedLoop(level);
    return {};
  }
  llvm_unreachable("a kind of level without a loop");
}

NestEmitter::Values NestEmitter::emitUnrolled(unsigned level, ArrayRef<Value> carried) {
  Values results(carried);
  for (const Access &access : outputs())
    if (hasColumns(access, level))
      columns[&access];
  for (int64_t i = 0; i < space.dims[levels[level].dim].size.factor; ++i)
    results = emitStep(level, indices.index(b, i), results);
  for (auto &[access, values] : columns) {
    Instance &instance = instances.front();
    instance.body.storeColumns(loc, values, access->flat, instance.position[numberOf(*access)]);
  }
  columns.clear();
  return results;
}

/// Whether the steps of an unrolled innermost loop produce a whole vector of columns of dense rows.
bool NestEmitter::hasColumns(const Access &access, unsigned level) const {
  unsigned dim = levels[level].dim;
  const SymbolicSize &size = space.dims[dim].size;
  // Not for bytes: few machines shuffle them between registers.
  constexpr unsigned leastBits = 16;
  return level + 1 == levels.size() && instances.size() == 1 && schedule.vectorDim && *schedule.vectorDim != dim &&
         !isVectorReduced() && !isAccumulated(access) && access.strides[dim].isStatic(1) &&
         isInterleaved(access.strides[*schedule.vectorDim]) &&
         access.strides[*schedule.vectorDim].isStatic(size.factor) && instances.front().body.getLanes() > 1 &&
         !instances.front().body.getMask() && access.element.isIntOrFloat() &&
         access.element.getIntOrFloatBitWidth() >= leastBits;
}

NestEmitter::Values NestEmitter::emitFor(Value begin, Value end, Value step, ArrayRef<Value> carried,
                                         EmitBody emitBody) {
  auto loop = scf::ForOp::create(b, loc, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values inner(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  Values results = emitBody(loop.getInductionVar(), inner);
  if (!carried.empty())
    scf::YieldOp::create(b, loc, results);
  return Values(loop.getResults());
}

NestEmitter::Values NestEmitter::emitLevelFor(unsigned level, Value begin, Value end, int64_t step,
                                              ArrayRef<Value> carried, EmitBody emitBody) {
  const LoopDim &dim = space.dims[levels[level].dim];
  auto last = [&] { return cast<scf::ForOp>(*std::prev(b.getInsertionPoint())); };
  bool mayShare = level == 0 && nestNs > 0 && !dim.reduced;
  if (!mayShare || hasStaticSizes(space)) {
    Values results = emitFor(begin, end, step, carried, emitBody);
    std::optional<int64_t> from = getConstantIntValue(begin), to = getConstantIntValue(end);
    if (mayShare && from && to)
      markParallel(last(), llvm::divideCeil(*to - *from, step), nestNs / double(dim.size.factor) * double(step));
    return results;
  }
  SymbolicSize picoseconds = picosecondsOfStep(nest, levels[level].dim, schedule.registerBits) * SymbolicSize(step);
  if (picoseconds.isStatic()) {
    Values results = emitFor(begin, end, step, carried, emitBody);
    markSized(last(), dim.size, picoseconds.factor);
    return results;
  }
  Value trips = indices.ceilDiv(b, loc, indices.sub(b, loc, end, begin), indices.index(b, step));
  Value piece = iterationsOfPiece(b, indices, loc, trips, picoseconds);
  piece = indices.mul(b, loc, piece, indices.index(b, step));
  Values results = emitFor(begin, end, piece, carried, [&](Value first, ArrayRef<Value> inner) {
    Value stop = indices.minimum(b, loc, indices.add(b, loc, first, piece), end);
    return emitFor(first, stop, step, inner, emitBody);
  });
  markPieces(last());
  return results;
}

/// One iteration of the loop at `level`: advances indices, and emits the loop's contents.
NestEmitter::Values NestEmitter::emitStep(unsigned level, Value iv, ArrayRef<Value> carried) {
  auto saved = llvm::map_to_vector(instances, [](const Instance &instance) { return instance.position; });
  for (Instance &instance : instances)
    move(instance, level, iv);
  if (space.blocked && levels[level].dim == 0) {
    Value block = indices.get(b, loc, space.dims[space.blocked->dim].size);
    Value rest = indices.sub(b, loc, indices.get(b, loc, space.blocked->total), indices.mul(b, loc, iv, block));
    lengthOfBlock = indices.minimum(b, loc, block, rest);
  }
  if (levels[level].kind == Level::TileBlocks)
    tileStart = iv;
  if (levels[level].kind == Level::Vector)
    vectorStart = iv;
  Values results = emitLevel(level + 1, carried);
  for (auto [instance, position] : llvm::zip_equal(instances, saved))
    instance.position = position;
  return results;
}

void NestEmitter::move(Instance &instance, unsigned level, Value iv) {
  unsigned dim = levels[level].dim;
  SmallVector<Value> before = instance.position;
  for (const Access &access : accesses) {
    if (!access.moves(dim) || (access.isOneRow && level == 0))
      continue;
    // Operands with equal index and strides share it.
    unsigned self = numberOf(access);
    unsigned first = numberOf(*llvm::find_if(accesses, [&](const Access &other) {
      return !other.scalar && before[numberOf(other)] == before[self] && other.strides[dim] == access.strides[dim] &&
             other.isOneRow == access.isOneRow;
    }));
    instance.position[self] =
        first < self ? instance.position[first] : indices.advance(b, loc, before[self], iv, access.strides[dim]);
  }
  Value element = levels[level].kind == Level::TileElements ? indices.add(b, loc, tileStart, iv) : iv;
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    if (space.dims[dim].indexSource == index.getDim())
      instance.body.mapLinear(index.getResult(), element, levels[level].kind == Level::Vector ? 1 : 0);
}

Value NestEmitter::load(Instance &instance, const Access &access) {
  SymbolicSize stride = schedule.vectorDim ? access.strides[*schedule.vectorDim] : SymbolicSize(0);
  return instance.body.load(loc, access.flat, instance.position[numberOf(access)], stride);
}

/// Prefetches the cache lines at the prefetch distance from the current load.
void NestEmitter::prefetch(Instance &instance, const Access &access) {
  constexpr int64_t cacheLine = 64;
  int64_t width = bytesOf(access.element), ahead = schedule.prefetchBytes;
  if (schedule.fetchesNextRow) // with known distance
    ahead = access.isOneRow || !access.strides[0].isStatic() ? 0 : access.strides[0].factor * width;
  if (ahead == 0 || !schedule.vectorDim || !access.strides[*schedule.vectorDim].isStatic(1) || instance.body.getMask())
    return;
  for (int64_t byte = 0, end = instance.body.getLanes() * width; byte < end; byte += cacheLine) {
    Value at = indices.add(b, loc, instance.position[numberOf(access)], indices.index(b, (ahead + byte) / width));
    memref::PrefetchOp::create(b, loc, access.flat, at, /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
}

void NestEmitter::store(Instance &instance, const Access &access, Value value) {
  if (auto found = columns.find(&access); found != columns.end()) {
    found->second.push_back(instance.body.toVector(value));
    return;
  }
  SymbolicSize stride = schedule.vectorDim ? access.strides[*schedule.vectorDim] : SymbolicSize(0);
  instance.body.store(loc, value, access.flat, instance.position[numberOf(access)], stride);
}

void NestEmitter::startBlock(Value number) {
  Instance &instance = instances.front();
  for (const Access &access : accesses)
    if (access.isOneRow)
      instance.position[numberOf(access)] =
          indices.advance(b, loc, instance.position[numberOf(access)], number, access.strideOfBlocks);
}

} // namespace mlir::array::loops

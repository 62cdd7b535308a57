// Emits the loop nest of a linalg op (LinalgToLoopsNest.h).
//
// Loops stand in this order: parallel dimensions, the vector dimension if it is parallel, reductions, the vector
// dimension if it is reduced. Everything is emitted at the level (number of loops entered) from which on it does not
// change: operands are loaded and body operations computed there, so what is uniform in the inner loop is outside of
// it. Accumulators are iter_args of the reduction loops; an output that moves along some reduced dimensions only is
// updated in memory.
#include "LinalgToLoopsNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array::loops {
namespace {

class NestEmitter {
public:
  NestEmitter(OpBuilder &b, IndexBuilder &indices, linalg::LinalgOp op, const IterationSpace &space,
              const Strategy &strategy)
      : b(b), indices(indices), op(op), space(space), strategy(strategy), loc(op.getLoc()), body(b, indices) {}

  void emit();

private:
  void orderLoops();
  void assignLevels();
  void mapCaptures();
  unsigned levelOf(Value bodyValue);
  SmallVector<Value> emitLevel(unsigned level, SmallVector<Value> accumulators);
  SmallVector<Value> emitInnermost(ArrayRef<Value> accumulators);
  SmallVector<Value> emitScalarLoop(unsigned level, ArrayRef<Value> accumulators);
  SmallVector<Value> emitVectorLoop(unsigned level, ArrayRef<Value> accumulators);
  SmallVector<Value> emitDynamicTail(unsigned level, Value first, Value rest, ArrayRef<Value> accumulators);
  SmallVector<Value> emitStep(unsigned level, Value iv, ArrayRef<Value> accumulators);
  SmallVector<Value> emitFor(Value end, int64_t step, ArrayRef<Value> accumulators,
                             function_ref<SmallVector<Value>(Value iv, ArrayRef<Value>)> emitBody);
  SmallVector<Value> startAccumulators();
  void finishAccumulators(ArrayRef<Value> accumulators);
  Value joinLanes(const Combiner &combiner, const Access &access, Value lanes);
  void joinArgReduction(const ArgReduction &arg, MutableArrayRef<Value> accumulators);
  std::optional<Combiner> combinerOf(const Access &access) {
    return matchCombiner(op, access.argument.getArgNumber() - space.numInputs);
  }

  bool isVectorReduced() const { return strategy.vectorDim && space.dims[*strategy.vectorDim].reduced; }
  Extent laneStride(const Access &access) const {
    return strategy.vectorDim && !access.scalar ? access.strides[*strategy.vectorDim] : Extent(0);
  }
  /// An output that moves along no reduced dimension, in an op that has some.
  bool isAccumulated(const Access &access) const;
  Value yielded(const Access &access) {
    return op.getBlock()->getTerminator()->getOperand(access.argument.getArgNumber() - space.numInputs);
  }
  /// The linear index of an access at the current level.
  Value &indexOf(const Access &access) { return position[access.argument.getArgNumber()]; }

  OpBuilder &b;
  IndexBuilder &indices;
  linalg::LinalgOp op;
  const IterationSpace &space;
  const Strategy &strategy;
  Location loc;
  BodyCloner body;
  SmallVector<unsigned> order;
  unsigned reductionLevel = 0;
  SmallVector<Value> position;
  SmallVector<unsigned> accessLevels;
  DenseMap<Operation *, unsigned> opLevels;
  SmallVector<SmallVector<Operation *>> opsOfLevel;
};

//===--- Order and levels -----------------------------------------------------------------------------------------===//

void NestEmitter::orderLoops() {
  for (bool reduced : {false, true}) {
    for (unsigned d = 0; d < space.dims.size(); ++d)
      if (space.dims[d].reduced == reduced && strategy.vectorDim != d)
        order.push_back(d);
    if (strategy.vectorDim && space.dims[*strategy.vectorDim].reduced == reduced)
      order.push_back(*strategy.vectorDim);
  }
  reductionLevel = llvm::count_if(space.dims, [](const LoopDim &dim) { return !dim.reduced; });
}

bool NestEmitter::isAccumulated(const Access &access) const {
  return access.isOutput && reductionLevel < order.size() &&
         llvm::none_of(ArrayRef(order).drop_front(reductionLevel), [&](unsigned d) { return access.moves(d); });
}

unsigned NestEmitter::levelOf(Value bodyValue) {
  if (auto argument = dyn_cast<BlockArgument>(bodyValue))
    return argument.getOwner() == op.getBlock() ? accessLevels[argument.getArgNumber()] : 0;
  return opLevels.lookup(bodyValue.getDefiningOp());
}

void NestEmitter::assignLevels() {
  for (const Access &access : space.accesses) {
    unsigned level = access.isOutput ? order.size() : 0;
    for (auto [l, d] : llvm::enumerate(order))
      if (access.moves(d))
        level = std::max<unsigned>(level, l + 1);
    accessLevels.push_back(level);
  }
  opsOfLevel.resize(order.size() + 1);
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    unsigned level = bodyOp.getNumRegions() ? order.size() : 0;
    for (Value operand : bodyOp.getOperands())
      level = std::max(level, levelOf(operand));
    if (auto index = dyn_cast<linalg::IndexOp>(bodyOp))
      for (auto [l, d] : llvm::enumerate(order))
        if (space.dims[d].indexSource == index.getDim())
          level = l + 1;
    opLevels[&bodyOp] = level;
    opsOfLevel[level].push_back(&bodyOp);
  }
}

/// Memrefs that the body loads from become flat views before the loops.
void NestEmitter::mapCaptures() {
  SmallPtrSet<Value, 4> seen;
  for (auto load : op.getBlock()->getOps<memref::LoadOp>()) {
    Value memref = load.getMemRef();
    if (strategy.vectorDim && seen.insert(memref).second)
      body.mapMemref(memref, *flatten(b, loc, indices, memref, sizesOf(b, loc, indices, memref)));
  }
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

void NestEmitter::emit() {
  orderLoops();
  assignLevels();
  mapCaptures();
  for (const Access &access : space.accesses)
    position.push_back(access.scalar ? Value() : indices.get(b, loc, access.start));
  emitLevel(0, {});
}

SmallVector<Value> NestEmitter::emitLevel(unsigned level, SmallVector<Value> accumulators) {
  for (const Access &access : space.inputs()) {
    if (accessLevels[access.argument.getArgNumber()] != level || access.argument.use_empty())
      continue;
    body.map(access.argument,
             access.scalar ? access.scalar : body.load(loc, access.flat, indexOf(access), laneStride(access)));
  }
  if (level == order.size())
    for (const Access &access : space.outputs())
      if (!isAccumulated(access) && !access.argument.use_empty())
        body.map(access.argument, body.load(loc, access.flat, indexOf(access), laneStride(access)));
  if (level == order.size())
    for (auto [access, accumulator] : llvm::zip_equal(
             llvm::make_filter_range(space.outputs(), [&](const Access &a) { return isAccumulated(a); }), accumulators))
      body.map(access.argument, accumulator);
  for (Operation *bodyOp : opsOfLevel[level]) {
    if (auto index = dyn_cast<linalg::IndexOp>(bodyOp); index && level == 0)
      body.map(index.getResult(), indices.index(b, 0)); // of a dimension with one element
    else if (!index)
      body.clone(bodyOp);
  }
  if (level == order.size())
    return emitInnermost(accumulators);

  bool startsReduction = level == reductionLevel;
  if (startsReduction)
    accumulators = startAccumulators();
  accumulators =
      strategy.vectorDim == order[level] ? emitVectorLoop(level, accumulators) : emitScalarLoop(level, accumulators);
  if (startsReduction)
    finishAccumulators(accumulators);
  return startsReduction ? SmallVector<Value>() : accumulators;
}

SmallVector<Value> NestEmitter::emitInnermost(ArrayRef<Value> accumulators) {
  SmallVector<Value> results;
  for (const Access &access : space.outputs()) {
    Value value = body.lookup(yielded(access));
    if (!isAccumulated(access)) {
      body.store(loc, value, access.flat, indexOf(access), laneStride(access));
      continue;
    }
    Value before = accumulators[results.size()];
    if (isa<VectorType>(before.getType()))
      value = body.toVector(value);
    if (isVectorReduced() && body.getMask())
      value = arith::SelectOp::create(b, loc, body.getMask(), value, before);
    results.push_back(value);
  }
  return results;
}

SmallVector<Value> NestEmitter::emitFor(Value end, int64_t step, ArrayRef<Value> accumulators,
                                        function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> emitBody) {
  auto loop = scf::ForOp::create(b, loc, indices.index(b, 0), end, indices.index(b, step), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> inner(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  SmallVector<Value> results = emitBody(loop.getInductionVar(), inner);
  if (!accumulators.empty())
    scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}

/// One iteration of the loop at `level`: indices advance, and what is inside is emitted.
SmallVector<Value> NestEmitter::emitStep(unsigned level, Value iv, ArrayRef<Value> accumulators) {
  unsigned dim = order[level];
  SmallVector<Value> saved = position;
  for (const Access &access : space.accesses) {
    if (!access.moves(dim))
      continue;
    unsigned self = access.argument.getArgNumber();
    const Access *twin = llvm::find_if(space.accesses, [&](const Access &other) {
      return saved[other.argument.getArgNumber()] == saved[self] && !other.scalar &&
             other.strides[dim] == access.strides[dim];
    });
    unsigned number = twin->argument.getArgNumber();
    position[self] = number < self ? position[number] : indices.advance(b, loc, saved[self], iv, access.strides[dim]);
  }
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    if (space.dims[dim].indexSource == index.getDim())
      body.mapLinear(index.getResult(), iv, strategy.vectorDim == dim ? 1 : 0);
  SmallVector<Value> results = emitLevel(level + 1, SmallVector<Value>(accumulators));
  position = std::move(saved);
  return results;
}

SmallVector<Value> NestEmitter::emitScalarLoop(unsigned level, ArrayRef<Value> accumulators) {
  return emitFor(indices.get(b, loc, space.dims[order[level]].size), 1, accumulators,
                 [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); });
}

/// Whole vectors in a loop, then one step for the rest, masked unless the rest fills a shorter vector.
SmallVector<Value> NestEmitter::emitVectorLoop(unsigned level, ArrayRef<Value> accumulators) {
  const Extent &size = space.dims[order[level]].size;
  int64_t lanes = strategy.lanes;
  SmallVector<Value> results(accumulators);
  auto whole = [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); };
  body.setLanes(lanes, Value());
  if (!size.isStatic()) {
    Value end = indices.get(b, loc, size);
    Value rest = arith::RemUIOp::create(b, loc, end, indices.index(b, lanes));
    Value main = arith::SubIOp::create(b, loc, end, rest);
    results = emitFor(main, lanes, results, whole);
    results = emitDynamicTail(level, main, rest, results);
  } else {
    int64_t main = size.factor / lanes * lanes, rest = size.factor - main;
    if (main == lanes)
      results = emitStep(level, indices.index(b, 0), results);
    else if (main > 0)
      results = emitFor(indices.index(b, main), lanes, results, whole);
    if (rest > 0) {
      int64_t restLanes = isVectorReduced() ? lanes : llvm::PowerOf2Ceil(rest);
      Value mask;
      if (restLanes != rest)
        mask = vector::ConstantMaskOp::create(b, loc, VectorType::get({restLanes}, b.getI1Type()), ArrayRef(rest));
      body.setLanes(restLanes, mask);
      results = emitStep(level, indices.index(b, main), results);
    }
  }
  body.setLanes(0, Value());
  return results;
}

SmallVector<Value> NestEmitter::emitDynamicTail(unsigned level, Value first, Value rest, ArrayRef<Value> accumulators) {
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, indices.index(b, 0));
  auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(accumulators)), any, !accumulators.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  VectorType maskType = VectorType::get({strategy.lanes}, b.getI1Type());
  body.setLanes(strategy.lanes, vector::CreateMaskOp::create(b, loc, maskType, rest));
  SmallVector<Value> results = emitStep(level, first, accumulators);
  if (accumulators.empty())
    return {};
  scf::YieldOp::create(b, loc, results);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, accumulators);
  return SmallVector<Value>(branch.getResults());
}

//===--- Accumulators ---------------------------------------------------------------------------------------------===//

SmallVector<Value> NestEmitter::startAccumulators() {
  SmallVector<Value> accumulators;
  for (const Access &access : space.outputs()) {
    if (!isAccumulated(access))
      continue;
    std::optional<Combiner> combiner = combinerOf(access);
    if (!isVectorReduced()) {
      accumulators.push_back(body.load(loc, access.flat, indexOf(access), laneStride(access)));
    } else if (combiner) {
      VectorType type = VectorType::get({strategy.lanes}, access.element);
      accumulators.push_back(indices.constant(b, DenseElementsAttr::get(type, Attribute(combiner->neutral))));
    } else {
      // Of an arg reduction, where every lane may start at the initial value and index.
      body.setLanes(strategy.lanes, Value());
      accumulators.push_back(body.toVector(memref::LoadOp::create(b, loc, access.flat, indexOf(access))));
    }
  }
  return accumulators;
}

void NestEmitter::finishAccumulators(ArrayRef<Value> accumulators) {
  SmallVector<Value> results(accumulators);
  auto outputs = llvm::make_filter_range(space.outputs(), [&](const Access &access) { return isAccumulated(access); });
  if (isVectorReduced()) {
    if (auto arg = matchArgReduction(op))
      joinArgReduction(*arg, results);
    else
      for (auto [access, result] : llvm::zip_equal(outputs, results))
        result = joinLanes(*combinerOf(access), access, result);
  }
  for (auto [access, result] : llvm::zip_equal(outputs, results))
    body.store(loc, result, access.flat, indexOf(access), laneStride(access));
}

/// The lanes are joined, then combined with the output's initial value.
Value NestEmitter::joinLanes(const Combiner &combiner, const Access &access, Value lanes) {
  // Any fixed order of the lanes is as good as another; the tree is the fast one.
  Value joined = vector::ReductionOp::create(b, loc, combiner.kind, lanes, arith::FastMathFlags::reassoc);
  Value init = memref::LoadOp::create(b, loc, access.flat, indexOf(access));
  Operation *combine = combiner.op->clone();
  bool accumulatorIsFirst = combiner.op->getOperand(0) == access.argument;
  combine->setOperands(accumulatorIsFirst ? ValueRange{init, joined} : ValueRange{joined, init});
  b.insert(combine);
  return combine->getResult(0);
}

/// The extreme value of all lanes, and the least index of the lanes that hold it.
void NestEmitter::joinArgReduction(const ArgReduction &arg, MutableArrayRef<Value> accumulators) {
  Value values = accumulators[arg.value], places = accumulators[arg.index];
  auto placeType = cast<VectorType>(places.getType());
  Value best = vector::ReductionOp::create(b, loc, arg.kind, values);
  Value everywhere = vector::BroadcastOp::create(b, loc, values.getType(), best);
  Value holds;
  if (isa<FloatType>(best.getType())) {
    // If there is a nan, then the best value is one, and equal to none.
    Value equal = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, values, everywhere);
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, values, values);
    holds = arith::OrIOp::create(b, loc, equal, isNan);
  } else {
    holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, values, everywhere);
  }
  Type element = placeType.getElementType();
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Attribute last = b.getIntegerAttr(element, APInt::getSignedMaxValue(width));
  places = arith::SelectOp::create(b, loc, holds, places, indices.constant(b, DenseElementsAttr::get(placeType, last)));
  accumulators[arg.value] = best;
  accumulators[arg.index] = vector::ReductionOp::create(b, loc, vector::CombiningKind::MINSI, places);
}

} // namespace

void emitNest(OpBuilder &b, IndexBuilder &indices, linalg::LinalgOp op, const IterationSpace &space,
              const Strategy &strategy) {
  NestEmitter(b, indices, op, space, strategy).emit();
}

} // namespace mlir::array::loops

// The initial values of a reduction's accumulators, and the reduction of their lanes at its end (NestEmitter.h).
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array::loops {

void NestEmitter::findAccumulators() {
  using Kind = vector::CombiningKind;
  for (const Access &access : outputs()) {
    if (llvm::any_of(llvm::seq<unsigned>(0, space.dims.size()),
                     [&](unsigned d) { return space.dims[d].reduced && access.moves(d); }))
      continue;
    Accumulator &accumulator = accumulators.emplace_back(Accumulator{&access, std::nullopt});
    if (matchArgReduction(op))
      continue;
    accumulator.combiner = matchCombiner(op, numberOf(access) - space.numInputs);
    if (!schedule.vectorDim)
      continue;
    accumulator.isJoined = isVectorReduced();
    accumulator.isExtremum = accumulator.combiner && (accumulator.combiner->kind == Kind::MAXIMUMF ||
                                                      accumulator.combiner->kind == Kind::MINIMUMF);
  }
}

NestEmitter::Values NestEmitter::startAccumulators() {
  Values values;
  for (Instance &instance : instances) {
    for (const Accumulator &accumulator : accumulators) {
      if (accumulator.isJoined || setsRows) {
        VectorType type = VectorType::get({schedule.lanes}, accumulator.access->element);
        const Combiner &combiner = *accumulator.combiner;
        values.push_back(splat(b, indices, type, accumulator.isJoined ? combiner.neutral : startOf(combiner)));
        continue;
      }
      Value init = accumulator.access->init ? accumulator.access->init : load(instance, *accumulator.access);
      // The lanes of an arg reduction may all start at the initial value and index.
      BodyCloner body = instance.body;
      if (isVectorReduced())
        body.setLanes(schedule.lanes, Value());
      values.push_back(body.toVector(init));
    }
    for (const Accumulator &accumulator : accumulators)
      if (accumulator.hasNans())
        values.push_back(noNans(accumulator.access->element));
  }
  return values;
}

/// Appends the accumulators' values after this step.
void NestEmitter::nextAccumulators(Instance &instance, ArrayRef<Value> before, Values &results) {
  auto select = [&](Value value, Value old) -> Value {
    if (!isVectorReduced() || !instance.body.getMask())
      return value;
    return arith::SelectOp::create(b, loc, instance.body.getMask(), value, old);
  };
  Values nans(before.drop_front(accumulators.size()));
  unsigned nextNans = 0;
  for (auto [accumulator, old] : llvm::zip(accumulators, before)) {
    if (accumulator.isExtremum) {
      Operation *combine = accumulator.combiner->op;
      unsigned candidate = combine->getOperand(0) == accumulator.access->argument ? 1 : 0;
      // Masked-out lanes take the old value, which is not a nan if nans are kept separately.
      Value x = select(instance.body.lookupVector(combine->getOperand(candidate)), old);
      results.push_back(
          extremeOf(accumulator.combiner->kind, x, old, accumulator.hasNans() ? &nans[nextNans++] : nullptr));
      continue;
    }
    Value value = instance.body.lookup(
        op.getBlock()->getTerminator()->getOperand(numberOf(*accumulator.access) - space.numInputs));
    if (isa<VectorType>(old.getType()))
      value = instance.body.toVector(value);
    results.push_back(select(value, old));
  }
  llvm::append_range(results, nans);
}

Value NestEmitter::areNans(Value x) { return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x); }

/// The initial value of lanes that record nans: one lane for two if two registers can be compared with each other.
Value NestEmitter::noNans(Type element) {
  int64_t lanes = schedule.lanes;
  bool inDot2 = lanes * element.getIntOrFloatBitWidth() >= 2 * schedule.registerBits;
  return indices.constant(b, cast<TypedAttr>(b.getZeroAttr(VectorType::get({inDot2 ? lanes / 2 : lanes}, element))));
}

/// `nans`, and a nan where `x` has one.
Value NestEmitter::withNans(Value nans, Value x) {
  auto type = cast<VectorType>(nans.getType());
  if (type == x.getType())
    return arith::SelectOp::create(b, loc, areNans(x), x, nans);
  // A comparison is unordered if either side is a nan.
  int64_t half = type.getNumElements();
  auto part = [&](int64_t first) -> Value {
    return vector::ShuffleOp::create(b, loc, x, x, llvm::to_vector(llvm::seq(first, first + half)));
  };
  Value lower = part(0), upper = part(half);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, lower, upper);
  auto element = cast<FloatType>(type.getElementType());
  APFloat nan = APFloat::getQNaN(element.getFloatSemantics());
  Value all = indices.constant(b, DenseElementsAttr::get(type, nan));
  return arith::SelectOp::create(b, loc, isNan, all, nans);
}

/// The maximum (minimum) of the numbers. A nan goes to `nans` if present, or else replaces the number; there it stays,
/// because no comparison with it holds.
Value NestEmitter::extremeOf(vector::CombiningKind kind, Value x, Value before, Value *nans) {
  using Kind = vector::CombiningKind;
  switch (kind) {
  case Kind::MAXSI:
    return arith::MaxSIOp::create(b, loc, x, before);
  case Kind::MINSI:
    return arith::MinSIOp::create(b, loc, x, before);
  case Kind::MAXUI:
    return arith::MaxUIOp::create(b, loc, x, before);
  case Kind::MINUI:
    return arith::MinUIOp::create(b, loc, x, before);
  default:
    break;
  }
  auto isAhead = kind == Kind::MAXIMUMF ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value better = arith::CmpFOp::create(b, loc, isAhead, x, before);
  Value number = arith::SelectOp::create(b, loc, better, x, before);
  if (!nans)
    return arith::SelectOp::create(b, loc, areNans(x), x, number);
  *nans = withNans(*nans, x);
  return number;
}

void NestEmitter::finishAccumulators(ArrayRef<Value> values) {
  std::optional<ArgReduction> arg = matchArgReduction(op);
  for (Instance &instance : instances) {
    Values results(values.take_front(accumulators.size()));
    ArrayRef<Value> nans = values.take_front(valuesOfInstance()).drop_front(accumulators.size());
    values = values.drop_front(valuesOfInstance());
    if (isVectorReduced() && arg)
      joinArgReduction(*arg, results);
    for (auto [accumulator, result] : llvm::zip_equal(accumulators, results)) {
      if (accumulator.isJoined)
        result = joinLanes(instance, accumulator, result, accumulator.hasNans() ? nans.front() : Value());
      if (accumulator.hasNans())
        nans = nans.drop_front();
      for (const Rows &rows : joinedRows)
        result = addToRows(accumulator, rows, vectorStart, result);
      if (joinedRows.empty())
        store(instance, *accumulator.access, result);
    }
  }
}

/// The maximum (minimum) of the lanes, or a nan if there was one.
Value NestEmitter::joinExtremum(vector::CombiningKind kind, Value lanes, Value areNans) {
  // A tree of the numbers; its result is not used if there is a nan.
  auto numbers = arith::FastMathFlags::reassoc | arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
  Value best = vector::ReductionOp::create(b, loc, kind, lanes, numbers);
  auto element = cast<FloatType>(best.getType());
  Value anyNan = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, areNans);
  Value nan = indices.constant(b, b.getFloatAttr(element, APFloat::getQNaN(element.getFloatSemantics())));
  return arith::SelectOp::create(b, loc, anyNan, nan, best);
}

/// The lanes are joined, then combined with the output's initial value.
Value NestEmitter::joinLanes(Instance &instance, const Accumulator &accumulator, Value lanes, Value nans) {
  const Combiner &combiner = *accumulator.combiner;
  // Any fixed order of the lanes is allowed; a tree is the fastest.
  auto flags = arith::FastMathFlags::reassoc;
  Value joined;
  if (accumulator.isExtremum) {
    joined = joinExtremum(combiner.kind, lanes, areNans(nans));
  } else {
    joined = vector::ReductionOp::create(b, loc, combiner.kind, lanes, flags);
  }
  Value init = accumulator.access->init ? accumulator.access->init : load(instance, *accumulator.access);
  Attribute initAttr;
  if (matchPattern(init, m_Constant(&initAttr)) && initAttr == combiner.neutral)
    return joined;
  return combine(b, combiner, accumulator.access->argument, init, joined);
}

/// The extreme value of all lanes, and the minimum index of the lanes that hold it.
void NestEmitter::joinArgReduction(const ArgReduction &arg, MutableArrayRef<Value> values) {
  Value lanes = values[arg.value], places = values[arg.index];
  auto placeType = cast<VectorType>(places.getType());
  Value best, holds;
  if (isa<FloatType>(getElementTypeOrSelf(lanes))) {
    Value isNan = areNans(lanes);
    best = joinExtremum(arg.kind, lanes, isNan);
    // A nan is equal to none.
    Value everywhere = vector::BroadcastOp::create(b, loc, lanes.getType(), best);
    Value areEqual = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, lanes, everywhere);
    holds = arith::OrIOp::create(b, loc, areEqual, isNan);
  } else {
    best = vector::ReductionOp::create(b, loc, arg.kind, lanes);
    Value everywhere = vector::BroadcastOp::create(b, loc, lanes.getType(), best);
    holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lanes, everywhere);
  }
  Type element = placeType.getElementType();
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Attribute last = b.getIntegerAttr(element, APInt::getSignedMaxValue(width));
  places = arith::SelectOp::create(b, loc, holds, places, indices.constant(b, DenseElementsAttr::get(placeType, last)));
  values[arg.value] = best;
  values[arg.index] = vector::ReductionOp::create(b, loc, vector::CombiningKind::MINSI, places);
}

} // namespace mlir::array::loops

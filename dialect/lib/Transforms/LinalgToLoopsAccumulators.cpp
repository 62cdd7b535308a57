// How the accumulators of a reduction start, and how their lanes are joined at its end (LinalgToLoopsEmitter.h).
#include "LinalgToLoopsEmitter.h"

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
    if (!isVectorReduced() || matchArgReduction(op))
      continue;
    accumulator.combiner = matchCombiner(op, numberOf(access) - space.numInputs);
    accumulator.hasNans = accumulator.combiner->kind == Kind::MAXIMUMF || accumulator.combiner->kind == Kind::MINIMUMF;
  }
}

NestEmitter::Values NestEmitter::startAccumulators() {
  Values values;
  for (Instance &instance : instances) {
    auto splat = [&](const Accumulator &accumulator, Attribute attr) {
      VectorType type = VectorType::get({strategy.lanes}, accumulator.access->element);
      return indices.constant(b, DenseElementsAttr::get(type, attr));
    };
    for (const Accumulator &accumulator : accumulators) {
      if (accumulator.combiner) {
        values.push_back(splat(accumulator, accumulator.combiner->neutral));
        continue;
      }
      Value init = accumulator.access->init ? accumulator.access->init : load(instance, *accumulator.access);
      // The lanes of an arg reduction may all start at the initial value and index.
      BodyCloner body = instance.body;
      if (isVectorReduced())
        body.setLanes(strategy.lanes, Value());
      values.push_back(body.toVector(init));
    }
    for (const Accumulator &accumulator : llvm::make_filter_range(accumulators, hasNans))
      values.push_back(splat(accumulator, b.getZeroAttr(accumulator.access->element)));
  }
  return values;
}

/// Appends what the accumulators hold after this step.
void NestEmitter::nextAccumulators(Instance &instance, ArrayRef<Value> before, Values &results) {
  ArrayRef<Value> nansBefore = before.drop_front(accumulators.size());
  Values nans(nansBefore);
  auto select = [&](Value value, Value old) -> Value {
    if (!isVectorReduced() || !instance.body.getMask())
      return value;
    return arith::SelectOp::create(b, loc, instance.body.getMask(), value, old);
  };
  unsigned nextNans = 0;
  for (auto [accumulator, old] : llvm::zip(accumulators, before)) {
    Value value;
    if (accumulator.hasNans)
      value = combineNumbers(instance, accumulator, old, nans[nextNans++]);
    else
      value = instance.body.lookup(
          op.getBlock()->getTerminator()->getOperand(numberOf(*accumulator.access) - space.numInputs));
    if (isa<VectorType>(old.getType()))
      value = instance.body.toVector(value);
    results.push_back(select(value, old));
  }
  for (auto [value, old] : llvm::zip(nans, nansBefore))
    results.push_back(select(value, old));
}

/// The greater (less) of the numbers; a nan replaces `nans`.
Value NestEmitter::combineNumbers(Instance &instance, const Accumulator &accumulator, Value before, Value &nans) {
  Operation *combine = accumulator.combiner->op;
  unsigned candidate = combine->getOperand(0) == accumulator.access->argument ? 1 : 0;
  Value x = instance.body.lookupVector(combine->getOperand(candidate));
  bool isMax = accumulator.combiner->kind == vector::CombiningKind::MAXIMUMF;
  Value better =
      arith::CmpFOp::create(b, loc, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, before);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  nans = arith::SelectOp::create(b, loc, isNan, x, nans);
  return arith::SelectOp::create(b, loc, better, x, before);
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
      if (accumulator.combiner)
        result = joinLanes(instance, accumulator, result, accumulator.hasNans ? nans.front() : Value());
      if (accumulator.hasNans)
        nans = nans.drop_front();
      store(instance, *accumulator.access, result);
    }
  }
}

/// The lanes are joined, then combined with the output's initial value.
Value NestEmitter::joinLanes(Instance &instance, const Accumulator &accumulator, Value lanes, Value nans) {
  const Combiner &combiner = *accumulator.combiner;
  // Any fixed order of the lanes is as good as another; the tree is the fast one.
  auto flags = arith::FastMathFlags::reassoc;
  Value joined;
  if (nans) {
    // Zero plus a nan is a nan.
    joined = vector::ReductionOp::create(b, loc, combiner.kind, lanes,
                                         flags | arith::FastMathFlags::nnan | arith::FastMathFlags::nsz);
    Value anyNan = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, nans, flags);
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, anyNan, anyNan);
    joined = arith::SelectOp::create(b, loc, isNan, anyNan, joined);
  } else {
    joined = vector::ReductionOp::create(b, loc, combiner.kind, lanes, flags);
  }
  Value init = accumulator.access->init ? accumulator.access->init : load(instance, *accumulator.access);
  Attribute initAttr;
  if (matchPattern(init, m_Constant(&initAttr)) && initAttr == combiner.neutral)
    return joined;
  Operation *combine = combiner.op->clone();
  bool accumulatorIsFirst = combiner.op->getOperand(0) == accumulator.access->argument;
  combine->setOperands(accumulatorIsFirst ? ValueRange{init, joined} : ValueRange{joined, init});
  b.insert(combine);
  return combine->getResult(0);
}

/// The extreme value of all lanes, and the least index of the lanes that hold it.
void NestEmitter::joinArgReduction(const ArgReduction &arg, MutableArrayRef<Value> values) {
  Value lanes = values[arg.value], places = values[arg.index];
  auto placeType = cast<VectorType>(places.getType());
  Value best = vector::ReductionOp::create(b, loc, arg.kind, lanes);
  Value everywhere = vector::BroadcastOp::create(b, loc, lanes.getType(), best);
  Value holds;
  if (isa<FloatType>(best.getType())) {
    // If there is a nan, then the best value is one, and equal to none.
    Value equal = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, lanes, everywhere);
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, lanes, lanes);
    holds = arith::OrIOp::create(b, loc, equal, isNan);
  } else {
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

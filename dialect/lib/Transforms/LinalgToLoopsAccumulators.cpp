// How the accumulators of a reduction start, and how their lanes are joined at its end (LinalgToLoopsEmitter.h).
#include "LinalgToLoopsEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array::loops {

NestEmitter::Values NestEmitter::startAccumulators() {
  Values accumulators;
  for (Instance &instance : instances) {
    for (const Access *access : accumulated) {
      std::optional<Combiner> combiner = combinerOf(*access);
      if (!isVectorReduced()) {
        accumulators.push_back(load(instance, *access));
      } else if (combiner) {
        VectorType type = VectorType::get({strategy.lanes}, access->element);
        accumulators.push_back(indices.constant(b, DenseElementsAttr::get(type, Attribute(combiner->neutral))));
      } else {
        // Of an arg reduction, where every lane may start at the initial value and index.
        Value init = memref::LoadOp::create(b, loc, access->flat, instance.position[numberOf(*access)]);
        accumulators.push_back(
            vector::BroadcastOp::create(b, loc, VectorType::get({strategy.lanes}, access->element), init));
      }
    }
  }
  return accumulators;
}

void NestEmitter::finishAccumulators(ArrayRef<Value> accumulators) {
  std::optional<ArgReduction> arg = matchArgReduction(op);
  for (Instance &instance : instances) {
    Values results(accumulators.take_front(accumulated.size()));
    accumulators = accumulators.drop_front(accumulated.size());
    if (isVectorReduced() && arg)
      joinArgReduction(*arg, results);
    for (auto [access, result] : llvm::zip_equal(accumulated, results)) {
      if (isVectorReduced() && !arg)
        result = joinLanes(instance, *combinerOf(*access), *access, result);
      store(instance, *access, result);
    }
  }
}

/// The lanes are joined, then combined with the output's initial value.
Value NestEmitter::joinLanes(Instance &instance, const Combiner &combiner, const Access &access, Value lanes) {
  // Any fixed order of the lanes is as good as another; the tree is the fast one.
  Value joined = vector::ReductionOp::create(b, loc, combiner.kind, lanes, arith::FastMathFlags::reassoc);
  Value init = memref::LoadOp::create(b, loc, access.flat, instance.position[numberOf(access)]);
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

} // namespace mlir::array::loops

// Where the extreme value of a row stands (LinalgToLoopsEmitter.h), in two sweeps: the value alone takes one or three
// instructions for a vector, value and place six; then the first vector with an element that is equal to it is looked
// for, while the row is in the cache.
#include "LinalgToLoopsEmitter.h"
#include "array/Transforms/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array::loops {

/// The operations that are worth doing twice.
static constexpr size_t mostOperations = 4;
/// A longer row is not in the cache any more when it is searched.
static constexpr int64_t mostElements = 1 << 16;

static TypedAttr neutralOf(OpBuilder &b, vector::CombiningKind kind, Type element) {
  using Kind = vector::CombiningKind;
  if (auto type = dyn_cast<FloatType>(element))
    return b.getFloatAttr(element, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/kind == Kind::MAXIMUMF));
  unsigned width = element.getIntOrFloatBitWidth();
  return b.getIntegerAttr(element, kind == Kind::MAXSI   ? APInt::getSignedMinValue(width)
                                   : kind == Kind::MINSI ? APInt::getSignedMaxValue(width)
                                   : kind == Kind::MAXUI ? APInt::getZero(width)
                                                         : APInt::getMaxValue(width));
}

void NestEmitter::findSearch() {
  std::optional<ArgReduction> arg = matchArgReduction(op);
  if (!arg || !isVectorReduced() || strategy.jamDim || reductionLevel + 1 != levels.size() ||
      accumulators.size() != 2 || !llvm::is_contained({8, 16, 32, 64}, strategy.lanes))
    return;
  const Extent &size = space.dims[*strategy.vectorDim].size;
  const Access &value = outputs()[arg->value], &index = outputs()[arg->index];
  if (!size.isStatic() || size.factor < strategy.lanes || size.factor > mostElements || !value.element.isIntOrFloat())
    return;
  Search found{*arg, {}, {}, neutralOf(b, arg->kind, value.element)};
  // From the neutral value and index 0 on: then the first of all elements is found where none is better.
  Attribute start;
  if (!value.init || !matchPattern(value.init, m_Constant(&start)) || start != found.neutral || !index.init ||
      getConstantIntValue(index.init) != 0)
    return;
  found.candidate =
      op.getBlock()->getTerminator()->getOperand(arg->value).getDefiningOp<arith::SelectOp>().getTrueValue();
  SmallVector<Value> work{found.candidate};
  while (!work.empty()) {
    Operation *defining = work.pop_back_val().getDefiningOp();
    if (!defining || defining->getBlock() != op.getBlock() || !found.operations.insert(defining).second)
      continue;
    if (isa<math::MathDialect>(defining->getDialect()) || found.operations.size() > mostOperations)
      return;
    llvm::append_range(work, defining->getOperands());
  }
  search = std::move(found);
}

void NestEmitter::emitSearch(unsigned level) {
  Instance &instance = instances.front();
  vector::CombiningKind kind = search->arg.kind;
  const Access &value = outputs()[search->arg.value], &index = outputs()[search->arg.index];
  int64_t lanes = strategy.lanes, size = space.dims[*strategy.vectorDim].size.factor;
  auto type = VectorType::get({lanes}, value.element);
  Values start{indices.constant(b, DenseElementsAttr::get(type, search->neutral))};
  if (isa<FloatType>(value.element))
    start.push_back(indices.constant(b, cast<TypedAttr>(b.getZeroAttr(type)))); // nans
  Values lanesOfBest = emitLoop(level, start);
  fetchesAhead = false; // the row is in the cache
  Value best;
  if (isa<FloatType>(value.element))
    best = joinExtremum(kind, lanesOfBest[0], areNans(lanesOfBest[1]));
  else
    best = vector::ReductionOp::create(b, loc, kind, lanesOfBest[0]);

  // The last vector may overlap the one before it, in which there is no such element.
  Value everywhere = vector::BroadcastOp::create(b, loc, type, best);
  auto lookAt = [&](OpBuilder &, Location, ValueRange arguments) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(arguments.front().getParentBlock());
    Value next = arguments.front();
    Value at = arith::MinUIOp::create(b, loc, next, indices.index(b, size - lanes));
    SmallVector<Value> saved = instance.position;
    setLanes(lanes, Value());
    move(instance, level, at);
    emitEntered(levels.size(), instance, {});
    Value x = instance.body.lookupVector(search->candidate), hits;
    if (isa<FloatType>(value.element)) {
      Value equal = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, everywhere);
      // There are some only if the extreme value is one.
      hits = arith::OrIOp::create(b, loc, equal, areNans(x));
    } else {
      hits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, everywhere);
    }
    instance.position = std::move(saved);
    Type bitsType = b.getIntegerType(lanes);
    Value bits = vector::BitCastOp::create(b, loc, VectorType::get({1}, bitsType), hits);
    bits = vector::ExtractOp::create(b, loc, bits, ArrayRef<int64_t>{0});
    Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits,
                                       indices.constant(b, b.getIntegerAttr(bitsType, 0)));
    Value lane =
        arith::IndexCastUIOp::create(b, loc, b.getIndexType(), math::CountTrailingZerosOp::create(b, loc, bits));
    next = indices.add(b, loc, next, indices.index(b, lanes));
    Value isWithin = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, next, indices.index(b, size));
    scf::ConditionOp::create(b, loc, arith::AndIOp::create(b, loc, none, isWithin),
                             ValueRange{next, indices.add(b, loc, at, lane)});
  };
  auto goOn = [](OpBuilder &b, Location loc, ValueRange arguments) { scf::YieldOp::create(b, loc, arguments.front()); };
  Type indexType = b.getIndexType();
  auto loop =
      scf::WhileOp::create(b, loc, TypeRange{indexType, indexType}, ValueRange{indices.index(b, 0)}, lookAt, goOn);
  loop->setAttr(kBoundedAttr, b.getUnitAttr());
  setLanes(0, Value());
  Value place = loop.getResult(1);
  if (!index.element.isIndex())
    place = arith::IndexCastOp::create(b, loc, index.element, place);
  store(instance, value, best);
  store(instance, index, place);
}

} // namespace mlir::array::loops

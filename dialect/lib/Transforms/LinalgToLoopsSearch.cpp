// Where the extreme value of a row stands (LinalgToLoopsEmitter.h), in two sweeps: the value alone takes one or three
// instructions for a vector, value and place six. The first sweep says in which part of the row the value is met first;
// the second one looks for it there, while the row is in the cache.
#include "LinalgToLoopsEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

/// Of a row that takes so many vectors: how many of them make a part. The fewer, the more parts are compared; the more,
/// the longer is the part that is searched.
static int64_t vectorsOfPart(int64_t vectors) {
  constexpr int64_t least = 4;
  int64_t root = 1;
  while (root * root < vectors)
    root *= 2;
  return std::min(std::max(root, least), vectors);
}

/// The extreme value of the whole vectors in [begin, end) and of `rest` elements after them.
Value NestEmitter::emitPart(unsigned level, Value begin, Value end, int64_t rest) {
  int64_t lanes = strategy.lanes;
  Type element = search->neutral.getType();
  auto type = VectorType::get({lanes}, element);
  Values values{indices.constant(b, DenseElementsAttr::get(type, search->neutral))};
  bool isFloat = isa<FloatType>(element);
  if (isFloat)
    values.push_back(noNans(element));
  auto step = [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); };
  setLanes(lanes, Value());
  if (begin != end)
    values = emitFor(begin, end, lanes, values, step);
  if (rest > 0) {
    setLanes(lanes, indices.firstLanes(b, lanes, rest));
    values = step(end, values);
  }
  setLanes(0, Value());
  return isFloat ? joinExtremum(search->arg.kind, values[0], areNans(values[1]))
                 : vector::ReductionOp::create(b, loc, search->arg.kind, values[0]).getResult();
}

/// Whether `x`, which comes after `best`, takes its place: a nan does, and stays.
Value NestEmitter::isBetter(Value x, Value best) {
  using Kind = vector::CombiningKind;
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, best);
  };
  switch (search->arg.kind) {
  case Kind::MAXSI:
    return compare(arith::CmpIPredicate::sgt);
  case Kind::MINSI:
    return compare(arith::CmpIPredicate::slt);
  case Kind::MAXUI:
    return compare(arith::CmpIPredicate::ugt);
  case Kind::MINUI:
    return compare(arith::CmpIPredicate::ult);
  default:
    break;
  }
  auto isAhead = search->arg.kind == Kind::MAXIMUMF ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
  Value ahead = arith::CmpFOp::create(b, loc, isAhead, x, best);
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, best, best);
  return arith::AndIOp::create(b, loc, ahead, isNumber);
}

/// The extreme value of the row, and where the first part that has it begins.
std::pair<Value, Value> NestEmitter::emitParts(unsigned level, int64_t size, int64_t part) {
  int64_t whole = size / part * part, vectors = size / strategy.lanes * strategy.lanes;
  if (part >= size)
    return {emitPart(level, indices.index(b, 0), indices.index(b, vectors), size - vectors), indices.index(b, 0)};
  auto combine = [&](Value value, Value begin, ArrayRef<Value> before) {
    Value better = isBetter(value, before[0]);
    return Values{arith::SelectOp::create(b, loc, better, value, before[0]),
                  arith::SelectOp::create(b, loc, better, begin, before[1])};
  };
  Values found{indices.constant(b, search->neutral), indices.index(b, 0)};
  found = emitFor(indices.index(b, 0), indices.index(b, whole), part, found, [&](Value begin, ArrayRef<Value> before) {
    Value end = indices.add(b, loc, begin, indices.index(b, part));
    return combine(emitPart(level, begin, end, 0), begin, before);
  });
  if (whole < size) {
    Value begin = indices.index(b, whole);
    found = combine(emitPart(level, begin, indices.index(b, vectors), size - vectors), begin, found);
  }
  return {found[0], found[1]};
}

/// The first place in [begin, begin + part) of an element that is `best`. Nothing is jumped over once it is found: a
/// branch that can't be foreseen would cost more.
Value NestEmitter::emitPlace(unsigned level, Value best, Value begin, int64_t size, int64_t part) {
  Instance &instance = instances.front();
  int64_t lanes = strategy.lanes;
  auto type = VectorType::get({lanes}, best.getType());
  Type bitsType = b.getIntegerType(lanes);
  Value everywhere = vector::BroadcastOp::create(b, loc, type, best);
  Value end = indices.add(b, loc, begin, indices.index(b, part));
  Values first{indices.index(b, size)};
  return emitFor(begin, end, lanes, first, [&](Value at, ArrayRef<Value> before) {
    // The last vector may overlap the one before it, in which there is no such element.
    if (size % part != 0)
      at = arith::MinUIOp::create(b, loc, at, indices.index(b, size - lanes));
    SmallVector<Value> saved = instance.position;
    setLanes(lanes, Value());
    move(instance, level, at);
    emitEntered(levels.size(), instance, {});
    Value x = instance.body.lookupVector(search->candidate), hits;
    setLanes(0, Value());
    instance.position = std::move(saved);
    if (isa<FloatType>(best.getType())) {
      Value equal = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, everywhere);
      // There are some only if the extreme value is one.
      hits = arith::OrIOp::create(b, loc, equal, areNans(x));
    } else {
      hits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, everywhere);
    }
    Value bits = vector::BitCastOp::create(b, loc, VectorType::get({1}, bitsType), hits);
    bits = vector::ExtractOp::create(b, loc, bits, ArrayRef<int64_t>{0});
    Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits,
                                       indices.constant(b, b.getIntegerAttr(bitsType, 0)));
    Value lane =
        arith::IndexCastUIOp::create(b, loc, b.getIndexType(), math::CountTrailingZerosOp::create(b, loc, bits));
    Value place = arith::MinUIOp::create(b, loc, before[0], indices.add(b, loc, at, lane));
    return Values{arith::SelectOp::create(b, loc, none, before[0], place)};
  })[0];
}

void NestEmitter::emitSearch(unsigned level) {
  const Access &value = outputs()[search->arg.value], &index = outputs()[search->arg.index];
  int64_t size = space.dims[*strategy.vectorDim].size.factor;
  int64_t part = vectorsOfPart(llvm::divideCeil(size, strategy.lanes)) * strategy.lanes;
  auto [best, begin] = emitParts(level, size, part);
  fetchesAhead = false; // the row is in the cache
  Value place = emitPlace(level, best, begin, size, part);
  if (!index.element.isIndex())
    place = arith::IndexCastOp::create(b, loc, index.element, place);
  store(instances.front(), value, best);
  store(instances.front(), index, place);
}

} // namespace mlir::array::loops

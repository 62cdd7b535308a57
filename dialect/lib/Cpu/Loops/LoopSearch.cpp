// The index of the extreme value of a row (NestEmitter.h), in two sweeps: the value alone takes one or three
// instructions for a vector, value and index six. The first sweep finds the first part of the row with the value. The
// second one searches that part, while the row is in the cache.
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array::loops {

/// The operations that are worth doing twice.
static constexpr size_t mostOperations = 4;
/// A longer row leaves the cache before it is searched.
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
  if (!arg || !isVectorReduced() || schedule.jamDim || reductionLevel + 1 != levels.size() ||
      accumulators.size() != 2 || !llvm::is_contained({8, 16, 32, 64}, schedule.lanes))
    return;
  const SymbolicSize &size = space.dims[*schedule.vectorDim].size;
  const Access &value = outputs()[arg->value], &index = outputs()[arg->index];
  if (!size.isStatic() || size.factor < schedule.lanes || size.factor > mostElements || !value.element.isIntOrFloat())
    return;
  Search found{*arg, {}, {}, neutralOf(b, arg->kind, value.element)};
  // From the neutral value and index 0 on, so the first element is the result if none is better.
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

/// The number of vectors in a part, for a row of this many vectors. Small parts mean more comparisons, and large ones a
/// longer search.
static int64_t vectorsOfPart(int64_t vectors) {
  constexpr int64_t least = 4;
  int64_t root = 1;
  while (root * root < vectors)
    root *= 2;
  return std::min(std::max(root, least), vectors);
}

/// The lanes' values after the whole vectors in [begin, end) and `rest` elements after them.
NestEmitter::Values NestEmitter::emitPart(unsigned level, Value begin, Value end, int64_t rest, Values values) {
  auto step = [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); };
  setLanes(schedule.lanes, Value());
  if (begin != end)
    values = emitFor(begin, end, schedule.lanes, values, step);
  if (rest > 0) {
    setLanes(schedule.lanes, indices.firstLanes(b, schedule.lanes, rest));
    values = step(end, values);
  }
  setLanes(0, Value());
  return values;
}

/// Whether each lane of `x` is better than that of `before`. Both are numbers.
Value NestEmitter::areAhead(Value x, Value before) {
  using Kind = vector::CombiningKind;
  Kind kind = search->arg.kind;
  if (kind == Kind::MAXIMUMF || kind == Kind::MINIMUMF)
    return arith::CmpFOp::create(b, loc, kind == Kind::MAXIMUMF ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
                                 x, before);
  arith::CmpIPredicate predicate = kind == Kind::MAXSI   ? arith::CmpIPredicate::sgt
                                   : kind == Kind::MINSI ? arith::CmpIPredicate::slt
                                   : kind == Kind::MAXUI ? arith::CmpIPredicate::ugt
                                                         : arith::CmpIPredicate::ult;
  return arith::CmpIOp::create(b, loc, predicate, x, before);
}

Value NestEmitter::areEqual(Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}

/// Sweeps a row part by part. Returns the extreme number, whether there are nans (null for integers), and the start of
/// the first part with the number: every lane keeps the part of its last improvement.
NestEmitter::Found NestEmitter::emitParts(unsigned level, int64_t size, int64_t part) {
  Type element = search->neutral.getType();
  auto type = VectorType::get({schedule.lanes}, element), places = VectorType::get({schedule.lanes}, b.getI32Type());
  bool isFloat = isa<FloatType>(element);
  int64_t whole = size / part * part, vectors = size / schedule.lanes * schedule.lanes;
  auto next = [&](Value begin, Value end, int64_t rest, ArrayRef<Value> before) {
    Values values = emitPart(level, begin, end, rest, Values(before.drop_back()));
    Value here = arith::IndexCastOp::create(b, loc, b.getI32Type(), begin);
    here = vector::BroadcastOp::create(b, loc, places, here);
    values.push_back(arith::SelectOp::create(b, loc, areAhead(values[0], before[0]), here, before.back()));
    return values;
  };
  Values values{indices.constant(b, DenseElementsAttr::get(type, search->neutral))};
  if (isFloat)
    values.push_back(noNans(element));
  values.push_back(indices.constant(b, cast<TypedAttr>(b.getZeroAttr(places))));
  auto inner = [&](Value begin, ArrayRef<Value> before) {
    return next(begin, indices.add(b, loc, begin, indices.index(b, part)), 0, before);
  };
  if (whole == part)
    values = inner(indices.index(b, 0), values);
  else if (whole > 0)
    values = emitFor(indices.index(b, 0), indices.index(b, whole), part, values, inner);
  if (whole < size)
    values = next(indices.index(b, whole), indices.index(b, vectors), size - vectors, values);

  auto flags = isFloat ? arith::FastMathFlags::reassoc | arith::FastMathFlags::nnan | arith::FastMathFlags::nsz
                       : arith::FastMathFlags::none;
  Found found;
  found.number = vector::ReductionOp::create(b, loc, search->arg.kind, values[0], flags);
  if (isFloat)
    found.anyNan = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, areNans(values[1]));
  Value holds = areEqual(values[0], vector::BroadcastOp::create(b, loc, type, found.number));
  Value none = indices.constant(b, DenseElementsAttr::get(places, b.getI32IntegerAttr(mostElements)));
  Value begins = arith::SelectOp::create(b, loc, holds, values.back(), none);
  Value first = vector::ReductionOp::create(b, loc, vector::CombiningKind::MINUI, begins);
  found.begin = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), first);
  return found;
}

/// The first index in [begin, end) of an element for which `isHit` holds, or `size`. The search does not stop early: an
/// unpredictable branch would cost more.
Value NestEmitter::emitPlace(unsigned level, Value begin, Value end, int64_t size, function_ref<Value(Value)> isHit) {
  Instance &instance = instances.front();
  int64_t lanes = schedule.lanes;
  Type bitsType = b.getIntegerType(lanes);
  Values first{indices.index(b, size)};
  return emitFor(begin, end, lanes, first, [&](Value at, ArrayRef<Value> before) {
    // The last vector may overlap the one before it, which has no such element.
    at = arith::MinUIOp::create(b, loc, at, indices.index(b, size - lanes));
    SmallVector<Value> saved = instance.position;
    setLanes(lanes, Value());
    move(instance, level, at);
    emitEntered(levels.size(), instance, {});
    Value hits = isHit(instance.body.lookupVector(search->candidate));
    setLanes(0, Value());
    instance.position = std::move(saved);
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
  int64_t size = space.dims[*schedule.vectorDim].size.factor;
  int64_t part = vectorsOfPart(llvm::divideCeil(size, schedule.lanes)) * schedule.lanes;
  Found found = emitParts(level, size, part);
  fetchesAhead = false; // the row is in the cache
  auto type = VectorType::get({schedule.lanes}, found.number.getType());
  Value everywhere = vector::BroadcastOp::create(b, loc, type, found.number);
  Value end = indices.add(b, loc, found.begin, indices.index(b, part));
  Value best = found.number;
  Value place = emitPlace(level, found.begin, end, size, [&](Value x) { return areEqual(x, everywhere); });
  if (found.anyNan) {
    auto element = cast<FloatType>(best.getType());
    Value nan = indices.constant(b, b.getFloatAttr(element, APFloat::getQNaN(element.getFloatSemantics())));
    best = arith::SelectOp::create(b, loc, found.anyNan, nan, best);
    // With nans, the first nan is searched in the whole row.
    auto branch = scf::IfOp::create(b, loc, b.getIndexType(), found.anyNan, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, place);
    b.setInsertionPointToStart(branch.thenBlock());
    Value first =
        emitPlace(level, indices.index(b, 0), indices.index(b, size), size, [&](Value x) { return areNans(x); });
    scf::YieldOp::create(b, loc, first);
    place = branch.getResult(0);
  }
  if (!index.element.isIndex())
    place = arith::IndexCastOp::create(b, loc, index.element, place);
  store(instances.front(), value, best);
  store(instances.front(), index, place);
}

} // namespace mlir::array::loops

// Clones the bodies of linalg ops for scalars or vectors (LoopBody.h), and recognizes reductions in them.
#include "LoopBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::array::loops {

//===--- Recognizing reductions -----------------------------------------------------------------------------------===//

static std::optional<vector::CombiningKind> combiningKind(Operation *op) {
  using Kind = vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Kind::MUL; })
      .Case([](arith::MaximumFOp) { return Kind::MAXIMUMF; })
      .Case([](arith::MinimumFOp) { return Kind::MINIMUMF; })
      .Case([](arith::MaxNumFOp) { return Kind::MAXNUMF; })
      .Case([](arith::MinNumFOp) { return Kind::MINNUMF; })
      .Case([](arith::MaxSIOp) { return Kind::MAXSI; })
      .Case([](arith::MaxUIOp) { return Kind::MAXUI; })
      .Case([](arith::MinSIOp) { return Kind::MINSI; })
      .Case([](arith::MinUIOp) { return Kind::MINUI; })
      .Case([](arith::AndIOp) { return Kind::AND; })
      .Case([](arith::OrIOp) { return Kind::OR; })
      .Case([](arith::XOrIOp) { return Kind::XOR; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Combiner> matchCombiner(linalg::LinalgOp op, unsigned number) {
  Block *body = op.getBlock();
  BlockArgument accumulator = body->getArgument(op.getNumDpsInputs() + number);
  Operation *combine = body->getTerminator()->getOperand(number).getDefiningOp();
  if (!combine || combine->getBlock() != body || combine->getNumOperands() != 2 || !accumulator.hasOneUse())
    return std::nullopt;
  // The combining operation is the only user of the accumulator, so the other operand cannot depend on it.
  if (*accumulator.user_begin() != combine || !combine->getResult(0).hasOneUse())
    return std::nullopt;
  std::optional<vector::CombiningKind> kind = combiningKind(combine);
  std::optional<TypedAttr> neutral = kind ? arith::getNeutralElement(combine) : std::nullopt;
  if (!neutral)
    return std::nullopt;
  return Combiner{combine, *kind, *neutral};
}

/// The combining kind for lanes of a value that a step replaces if `better` holds; `x` is the candidate, `value` the
/// best so far.
static std::optional<vector::CombiningKind> kindOfComparison(Value better, Value x, Value value) {
  using Kind = vector::CombiningKind;
  if (auto both = better.getDefiningOp<arith::AndIOp>()) {
    // A nan is better, unless there was one already.
    auto ahead = both.getLhs().getDefiningOp<arith::CmpFOp>(), noNanYet = both.getRhs().getDefiningOp<arith::CmpFOp>();
    if (!ahead || ahead.getLhs() != x || ahead.getRhs() != value || !noNanYet || noNanYet.getLhs() != value ||
        noNanYet.getRhs() != value || noNanYet.getPredicate() != arith::CmpFPredicate::ORD)
      return std::nullopt;
    if (ahead.getPredicate() == arith::CmpFPredicate::UGT)
      return Kind::MAXIMUMF;
    if (ahead.getPredicate() == arith::CmpFPredicate::ULT)
      return Kind::MINIMUMF;
    return std::nullopt;
  }
  auto ahead = better.getDefiningOp<arith::CmpIOp>();
  if (!ahead || ahead.getLhs() != x || ahead.getRhs() != value)
    return std::nullopt;
  switch (ahead.getPredicate()) {
  case arith::CmpIPredicate::sgt:
    return Kind::MAXSI;
  case arith::CmpIPredicate::slt:
    return Kind::MINSI;
  case arith::CmpIPredicate::ugt:
    return Kind::MAXUI;
  case arith::CmpIPredicate::ult:
    return Kind::MINUI;
  default:
    return std::nullopt;
  }
}

std::optional<ArgReduction> matchArgReduction(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumDpsInits() != 2 || body->getTerminator()->getNumOperands() != 2)
    return std::nullopt;
  for (unsigned value : {0, 1}) {
    unsigned index = 1 - value;
    BlockArgument best = body->getArgument(op.getNumDpsInputs() + value),
                  bestIndex = body->getArgument(op.getNumDpsInputs() + index);
    auto pick = body->getTerminator()->getOperand(value).getDefiningOp<arith::SelectOp>();
    auto pickIndex = body->getTerminator()->getOperand(index).getDefiningOp<arith::SelectOp>();
    if (!pick || !pickIndex || pick.getCondition() != pickIndex.getCondition() || pick.getFalseValue() != best ||
        pickIndex.getFalseValue() != bestIndex || !bestIndex.hasOneUse())
      continue;
    Value position = pickIndex.getTrueValue();
    if (auto cast = position.getDefiningOp<arith::IndexCastOp>())
      position = cast.getIn();
    auto counted = position.getDefiningOp<linalg::IndexOp>();
    auto kind = kindOfComparison(pick.getCondition(), pick.getTrueValue(), best);
    // Only the comparison and the selection read the best value so far, so the candidate cannot depend on it.
    bool seenElsewhere = llvm::any_of(best.getUsers(), [&](Operation *user) {
      return user != pick && user != pick.getCondition().getDefiningOp() &&
             !llvm::is_contained(user->getUsers(), pick.getCondition().getDefiningOp());
    });
    if (counted && kind && !seenElsewhere)
      return ArgReduction{value, index, unsigned(counted.getDim()), *kind};
  }
  return std::nullopt;
}

bool canVectorize(Block &body) {
  auto isElement = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (!llvm::all_of(body.getArgumentTypes(), isElement))
    return false;
  for (Operation &op : body.without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(op))
      continue;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (!isElement(load.getType()) || load.getType().isInteger(1))
        return false;
      continue;
    }
    if (!OpTrait::hasElementwiseMappableTraits(&op) || !llvm::all_of(op.getResultTypes(), isElement))
      return false;
  }
  return true;
}

//===--- Values ---------------------------------------------------------------------------------------------------===//

void BodyCloner::map(Value bodyValue, Value value) {
  linear.erase(bodyValue);
  mapping.map(bodyValue, value);
}

void BodyCloner::mapLinear(Value bodyValue, Value base, int64_t step) {
  if (lanes == 0 || step == 0)
    return map(bodyValue, base);
  mapping.erase(bodyValue);
  linear[bodyValue] = {base, step};
}

bool BodyCloner::isUniform(Value bodyValue) const {
  return !linear.contains(bodyValue) && !isa<VectorType>(mapping.lookupOrDefault(bodyValue).getType());
}

Value BodyCloner::lookup(Value bodyValue) {
  auto it = linear.find(bodyValue);
  if (it == linear.end())
    return mapping.lookupOrDefault(bodyValue);
  // Not kept for later lookups: these may be in another loop than the first one, inside of the loop of the base.
  auto [base, step] = it->second;
  return arith::AddIOp::create(b, bodyValue.getLoc(), toVector(base), indices.ramp(b, base.getType(), lanes, step));
}

Value BodyCloner::toVector(Value value) {
  if (lanes == 0 || isa<VectorType>(value.getType()))
    return value;
  TypedAttr attr;
  if (matchPattern(value, m_Constant(&attr)))
    return indices.constant(b, DenseElementsAttr::get(vectorOf(value.getType()), Attribute(attr)));
  return vector::BroadcastOp::create(b, value.getLoc(), vectorOf(value.getType()), value);
}

Value BodyCloner::zero(VectorType type) { return indices.constant(b, cast<TypedAttr>(b.getZeroAttr(type))); }

Value BodyCloner::allLanes() { return indices.constant(b, DenseElementsAttr::get(vectorOf(b.getI1Type()), true)); }

//===--- Memory ---------------------------------------------------------------------------------------------------===//

/// Offsets of the lanes from the first one, in 32 bits if these suffice: a gather then takes half as many steps.
Value BodyCloner::laneOffsets(Location loc, const SymbolicSize &stride) {
  if (!stride.isStatic())
    return arith::MulIOp::create(b, loc, indices.ramp(b, b.getIndexType(), lanes, 1),
                                 toVector(indices.get(b, loc, stride)));
  bool isNarrow = std::abs(stride.factor) < (int64_t(1) << 31) / lanes;
  return indices.ramp(b, isNarrow ? Type(b.getI32Type()) : Type(b.getIndexType()), lanes, stride.factor);
}

Value BodyCloner::gather(Location loc, Value flat, Value index, Value offsets) {
  VectorType type = vectorOf(cast<MemRefType>(flat.getType()).getElementType());
  return vector::GatherOp::create(b, loc, type, flat, index, offsets, mask ? mask : allLanes(), zero(type));
}

Value BodyCloner::load(Location loc, Value flat, Value index, const SymbolicSize &stride) {
  if (lanes == 0 || stride.isZero())
    return memref::LoadOp::create(b, loc, flat, index);
  VectorType type = vectorOf(cast<MemRefType>(flat.getType()).getElementType());
  if (stride.isStatic(1)) {
    if (mask)
      return vector::MaskedLoadOp::create(b, loc, type, flat, index, mask, zero(type));
    return vector::LoadOp::create(b, loc, type, flat, index);
  }
  std::optional<int64_t> live = liveLanes();
  if (stride.isStatic(-1) && live) {
    // The live elements in the order of memory; dead lanes may be any.
    Value first = indices.add(b, loc, index, indices.index(b, 1 - *live));
    Value reversed = mask ? Value(vector::MaskedLoadOp::create(b, loc, type, flat, first, mask, zero(type)))
                          : Value(vector::LoadOp::create(b, loc, type, flat, first));
    auto order = llvm::map_to_vector(llvm::seq<int64_t>(0, lanes),
                                     [&](int64_t lane) { return std::max<int64_t>(*live - 1 - lane, 0); });
    return vector::ShuffleOp::create(b, loc, reversed, reversed, order);
  }
  if (live && isInterleaved(stride))
    return loadInterleaved(loc, flat, index, stride.factor, *live);
  return gather(loc, flat, index, laneOffsets(loc, stride));
}

void BodyCloner::store(Location loc, Value value, Value flat, Value index, const SymbolicSize &stride) {
  if (lanes == 0 || stride.isZero()) {
    memref::StoreOp::create(b, loc, value, flat, index);
    return;
  }
  value = toVector(value);
  std::optional<int64_t> live = liveLanes();
  if (live && isInterleaved(stride))
    storeInterleaved(loc, value, flat, index, stride.factor, *live);
  else if (!stride.isStatic(1))
    vector::ScatterOp::create(b, loc, Type(), flat, index, laneOffsets(loc, stride), mask ? mask : allLanes(), value);
  else if (mask)
    vector::MaskedStoreOp::create(b, loc, flat, index, mask, value);
  else
    vector::StoreOp::create(b, loc, value, flat, index);
}

//===--- Operations -----------------------------------------------------------------------------------------------===//

void BodyCloner::clone(Operation *op) {
  bool uniform = llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand); });
  if (uniform && isa<arith::ConstantOp>(op))
    map(op->getResult(0), indices.constant(b, cast<arith::ConstantOp>(op).getValue()));
  else if (uniform)
    for (auto [result, value] : llvm::zip(op->getResults(), b.clone(*op, mapping)->getResults()))
      map(result, value);
  else if (isa<memref::LoadOp>(op))
    cloneLoad(op);
  else if (!cloneLinear(op))
    cloneOnVectors(op);
}

/// Index arithmetic that is linear in the lane, so that a load at such an index loads adjacent elements.
bool BodyCloner::cloneLinear(Operation *op) {
  if (!llvm::any_of(op->getOperands(), [&](Value operand) { return linear.contains(operand); }))
    return false;
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  auto at = [&](unsigned i) {
    auto it = linear.find(op->getOperand(i));
    return it != linear.end() ? it->second : Linear{mapping.lookupOrDefault(op->getOperand(i)), 0};
  };
  if (auto cast = dyn_cast<arith::IndexCastOp>(op); cast && cast.getIn().getType().isIndex()) {
    mapLinear(result, arith::IndexCastOp::create(b, loc, result.getType(), at(0).base), at(0).step);
    return true;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return false;
  auto [lhs, lhsStep] = at(0);
  auto [rhs, rhsStep] = at(1);
  if (isa<VectorType>(lhs.getType()) || isa<VectorType>(rhs.getType()))
    return false;
  if (isa<arith::AddIOp>(op)) {
    mapLinear(result, arith::AddIOp::create(b, loc, lhs, rhs), lhsStep + rhsStep);
    return true;
  }
  if (isa<arith::SubIOp>(op)) {
    mapLinear(result, arith::SubIOp::create(b, loc, lhs, rhs), lhsStep - rhsStep);
    return true;
  }
  std::optional<int64_t> factor = getConstantIntValue(lhsStep == 0 ? lhs : rhs);
  if (!factor || (lhsStep != 0 && rhsStep != 0))
    return false;
  mapLinear(result, arith::MulIOp::create(b, loc, lhs, rhs), (lhsStep + rhsStep) * *factor);
  return true;
}

void BodyCloner::cloneLoad(Operation *op) {
  auto load = cast<memref::LoadOp>(op);
  Location loc = op->getLoc();
  const FlatView &view = views.find(load.getMemRef())->second;
  // Uniform and linear indices join one index with a stride from lane to lane; the others need a vector of offsets.
  Value index = indices.get(b, loc, view.offset), offsets;
  SymbolicSize stride(0);
  for (auto [position, memrefStride] : llvm::zip_equal(load.getIndices(), view.strides)) {
    auto it = linear.find(position);
    Value value = it != linear.end() ? it->second.base : mapping.lookupOrDefault(position);
    if (!isa<VectorType>(value.getType())) {
      index = indices.advance(b, loc, index, value, memrefStride);
      if (it != linear.end())
        stride = indices.sum(b, loc, stride, memrefStride * SymbolicSize(it->second.step));
      continue;
    }
    if (!memrefStride.isStatic(1))
      value = arith::MulIOp::create(b, loc, value, toVector(indices.get(b, loc, memrefStride)));
    offsets = offsets ? arith::AddIOp::create(b, loc, offsets, value).getResult() : value;
  }
  if (!offsets)
    return map(load.getResult(), this->load(loc, view.flat, index, stride));
  if (!stride.isZero()) {
    Value lane = arith::MulIOp::create(b, loc, indices.ramp(b, b.getIndexType(), lanes, 1),
                                       toVector(indices.get(b, loc, stride)));
    offsets = arith::AddIOp::create(b, loc, offsets, lane);
  }
  map(load.getResult(), gather(loc, view.flat, index, offsets));
}

void BodyCloner::cloneOnVectors(Operation *op) {
  IRMapping vectors;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    bool staysScalar = i == 0 && isa<arith::SelectOp>(op) && isUniform(operand);
    vectors.map(operand, staysScalar ? lookup(operand) : lookupVector(operand));
  }
  // Dead lanes may hold any divisor, and a division by zero traps.
  if (mask && isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
                  arith::CeilDivUIOp, arith::FloorDivSIOp>(op)) {
    Value divisor = vectors.lookup(op->getOperand(1));
    Value one = toVector(indices.constant(b, b.getIntegerAttr(getElementTypeOrSelf(divisor), 1)));
    vectors.map(op->getOperand(1), arith::SelectOp::create(b, op->getLoc(), mask, divisor, one).getResult());
  }
  Operation *clone = op->clone(vectors);
  for (Value result : clone->getResults())
    result.setType(vectorOf(result.getType()));
  b.insert(clone);
  for (auto [result, value] : llvm::zip(op->getResults(), clone->getResults()))
    map(result, value);
}

} // namespace mlir::array::loops

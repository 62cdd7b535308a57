// Joins partial results of reductions (KernelJoin.h).
#include "KernelJoin.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {

//===-- The kind of a reduction ---------------------------------------------------------------------------------===//

static bool canMove(Type element) { return element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 64; }

static bool isAccumulated(linalg::LinalgOp op, OpOperand &out) {
  AffineMap map = op.getMatchingIndexingMap(&out);
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction && map.isFunctionOfDim(static_cast<unsigned>(dim)))
      return false;
  return canMove(getElementTypeOrSelf(out.get()));
}

std::optional<Join> Join::of(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 ||
      !llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &out) { return isAccumulated(op, out); }))
    return std::nullopt;
  Join join;
  join.op = op;
  if ((join.search = loops::matchArgReduction(op)))
    return join;
  for (unsigned number = 0; number < op.getNumDpsInits(); ++number) {
    std::optional<loops::Combiner> combiner = loops::matchCombiner(op, number);
    if (!combiner)
      return std::nullopt;
    join.combiners.push_back(*combiner);
  }
  return join;
}

/// A value that is worse than every other one.
static TypedAttr worst(OpBuilder &b, vector::CombiningKind kind, Type element) {
  using Kind = vector::CombiningKind;
  if (auto type = dyn_cast<FloatType>(element))
    return b.getFloatAttr(element, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/kind == Kind::MAXIMUMF));
  unsigned bits = element.getIntOrFloatBitWidth();
  return b.getIntegerAttr(element, kind == Kind::MAXSI   ? APInt::getSignedMinValue(bits)
                                   : kind == Kind::MINSI ? APInt::getSignedMaxValue(bits)
                                   : kind == Kind::MAXUI ? APInt::getMinValue(bits)
                                                         : APInt::getMaxValue(bits));
}

Values Join::neutral(KernelBuilder &k) const {
  Values values;
  for (const loops::Combiner &combiner : combiners)
    values.push_back(arith::ConstantOp::create(k, combiner.neutral));
  if (search) { // an element without an index: it comes after all others
    values.resize(2);
    Type element = getElementTypeOrSelf(op.getDpsInits()[search->value]),
         index = getElementTypeOrSelf(op.getDpsInits()[search->index]);
    values[search->value] = arith::ConstantOp::create(k, worst(k, search->kind, element));
    values[search->index] = arith::ConstantOp::create(
        k, cast<TypedAttr>(k.getIntegerAttr(index, APInt::getSignedMaxValue(index.getIntOrFloatBitWidth()))));
  }
  return values;
}

//===-- Two partial results -------------------------------------------------------------------------------------===//

Values Join::operator()(KernelBuilder &k, ValueRange left, ValueRange right) const {
  if (search)
    return joinSearch(k, left, right);
  Values joined;
  for (auto [combiner, x, y] : llvm::zip_equal(combiners, left, right))
    joined.push_back(vector::makeArithReduction(k, k.getLoc(), combiner.kind, x, y));
  return joined;
}

/// The better one by the body's own comparison, and the earlier one of equal ones.
Values Join::joinSearch(KernelBuilder &k, ValueRange left, ValueRange right) const {
  Block *body = op.getBlock();
  auto pick = body->getTerminator()->getOperand(search->value).getDefiningOp<arith::SelectOp>();
  Value best = body->getArgument(op.getNumDpsInputs() + search->value), candidate = pick.getTrueValue();
  auto isBetter = [&](Value x, Value y) {
    IRMapping mapping;
    mapping.map(candidate, x);
    mapping.map(best, y);
    std::function<Value(Value)> copy = [&](Value value) -> Value {
      Operation *source = value.getDefiningOp();
      if (mapping.contains(value) || !source || source->getBlock() != body)
        return mapping.lookupOrDefault(value);
      for (Value operand : source->getOperands())
        copy(operand);
      return k.clone(*source, mapping)->getResult(0);
    };
    return copy(pick.getCondition());
  };
  Value isEarlier = arith::CmpIOp::create(k, arith::CmpIPredicate::slt, right[search->index], left[search->index]);
  Value isWorse = isBetter(left[search->value], right[search->value]);
  Value no = arith::ConstantOp::create(k, k.getBoolAttr(false));
  Value takesEarlier = arith::SelectOp::create(k, isWorse, no, isEarlier);
  Value takesRight = arith::OrIOp::create(k, isBetter(right[search->value], left[search->value]), takesEarlier);
  Values joined;
  for (auto [x, y] : llvm::zip_equal(left, right))
    joined.push_back(arith::SelectOp::create(k, takesRight, y, x));
  return joined;
}

//===-- Threads -------------------------------------------------------------------------------------------------===//

/// The value of the lane whose number differs by `distance`. The hardware moves 32 bits.
static Value shuffled(KernelBuilder &k, Value value, int64_t distance) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value offset = arith::ConstantOp::create(k, k.getI32IntegerAttr(static_cast<int32_t>(distance)));
  Value lanes = arith::ConstantOp::create(k, k.getI32IntegerAttr(kWarpSize));
  auto move = [&](Value word) {
    return gpu::ShuffleOp::create(k, word, offset, lanes, gpu::ShuffleMode::XOR).getShuffleResult();
  };
  if (width == 32)
    return move(value);
  Type bitsType = k.getIntegerType(width), word = k.getI32Type();
  Value bits = isa<FloatType>(type) ? Value(arith::BitcastOp::create(k, bitsType, value)) : value;
  if (width < 32) {
    bits = arith::TruncIOp::create(k, bitsType, move(arith::ExtUIOp::create(k, word, bits)));
  } else {
    Value half = arith::ConstantOp::create(k, k.getI64IntegerAttr(32));
    Value low = move(arith::TruncIOp::create(k, word, bits));
    Value high = move(arith::TruncIOp::create(k, word, arith::ShRUIOp::create(k, bits, half)));
    Value upper = arith::ShLIOp::create(k, arith::ExtUIOp::create(k, bitsType, high), half);
    bits = arith::OrIOp::create(k, upper, arith::ExtUIOp::create(k, bitsType, low));
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(k, type, bits)) : bits;
}

Values Join::ofLanes(KernelBuilder &k, Values parts, int64_t lanes) const {
  size_t outputs = parts.size() / lanes;
  Values joined(ArrayRef<Value>(parts).take_front(outputs));
  for (int64_t lane = 1; lane < lanes; ++lane)
    joined = (*this)(k, joined, ArrayRef<Value>(parts).slice(lane * outputs, outputs));
  return joined;
}

Values Join::inWarp(KernelBuilder &k, Values parts, int64_t width) const {
  for (int64_t distance = width / 2; distance > 0; distance /= 2) {
    Values others = llvm::map_to_vector<4>(parts, [&](Value part) { return shuffled(k, part, distance); });
    parts = (*this)(k, parts, others);
  }
  return parts;
}

Value shareBuffer(KernelBuilder &k, ArrayRef<int64_t> sizes, Type element) {
  auto space = gpu::AddressSpaceAttr::get(k.getContext(), gpu::AddressSpace::Workgroup);
  return k.getLaunch().addWorkgroupAttribution(MemRefType::get(sizes, element, MemRefLayoutAttrInterface(), space),
                                               k.getLoc());
}

/// The first lane of each warp leaves its result in shared memory, and every warp joins them.
Values Join::inBlock(KernelBuilder &k, Values parts, Value thread, int64_t threads) const {
  int64_t warps = threads / kWarpSize;
  parts = inWarp(k, std::move(parts), kWarpSize);
  Values shared = llvm::map_to_vector<4>(parts, [&](Value part) { return shareBuffer(k, {warps}, part.getType()); });
  Value warp = k.divide(thread, kWarpSize), lane = k.remainder(thread, kWarpSize);
  k.when(k.isLess(lane, 1), [&] {
    for (auto [part, buffer] : llvm::zip_equal(parts, shared))
      memref::StoreOp::create(k, part, buffer, warp);
  });
  gpu::BarrierOp::create(k);
  Value from = k.remainder(lane, warps); // `warps` neighbours have them all
  for (auto [part, buffer] : llvm::zip_equal(parts, shared))
    part = memref::LoadOp::create(k, buffer, from);
  return inWarp(k, std::move(parts), warps);
}

} // namespace mlir::array

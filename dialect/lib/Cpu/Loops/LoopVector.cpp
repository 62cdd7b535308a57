// The loop of vectors along a dimension, and its ends (NestEmitter.h).
#include "Analysis/Footprint.h"
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array::loops {

void NestEmitter::setLanes(int64_t lanes, Value mask) {
  for (Instance &instance : instances)
    instance.body.setLanes(lanes, mask);
}

/// The number of elements before the first one that is stored at the start of a cache line, if all outputs have the
/// same and the loop waits for memory: a store of a whole register into two lines takes as long as two. For nests that
/// may not compute an element twice; for others there is startOfAligned.
int64_t NestEmitter::elementsBeforeLine(unsigned level) {
  constexpr int64_t cacheLine = 64, leastVectors = 8, mostOperations = 16;
  unsigned dim = levels[level].dim;
  if (isVectorReduced() || schedule.tileDim || schedule.jamDim || !schedule.unrolledDims.empty() ||
      !sizeOf(dim).isStatic() || sizeOf(dim).factor < leastVectors * schedule.lanes ||
      int64_t(op.getBlock()->getOperations().size()) > mostOperations)
    return 0;
  std::optional<int64_t> common;
  for (const Access &access : outputs()) {
    int64_t line = cacheLine / bytesOf(access.element);
    if (!access.strides[dim].isStatic(1) || !access.start.isStatic() || access.isOneRow)
      return 0;
    for (auto [other, stride] : llvm::enumerate(access.strides))
      if (other != dim && (!stride.isStatic() || stride.factor % line != 0))
        return 0;
    int64_t before = (line - access.start.factor % line) % line;
    if (common.value_or(before) != before)
      return 0;
    common = before;
  }
  return common.value_or(0);
}

/// Whether an element may be computed twice: the nest does not change its own inputs.
bool NestEmitter::mayRepeat() {
  if (space.hasReduction() || !op.getBlock()->getOps<memref::LoadOp>().empty())
    return false;
  return llvm::all_of(space.outputs(), [&](const Access &output) {
    Footprint stored = footprintOf(output, space);
    return output.argument.use_empty() && llvm::none_of(space.inputs(), [&](const Access &input) {
             return !input.scalar && mayOverlap(stored, footprintOf(input, space));
           });
  });
}

/// The elements that a register stores at once.
int64_t NestEmitter::lanesOfRegister() const {
  int64_t bytes = 1;
  for (const Access &access : outputs())
    bytes = std::max(bytes, bytesOf(access.element));
  return std::min(schedule.lanes, schedule.registerBits / 8 / bytes);
}

/// The number of the first element, after 0, that is stored at a multiple of a register's size. Null if element 0 is,
/// or if alignment does not pay: a store of a register into two cache lines takes as long as two, but this matters only
/// in loops that wait for memory.
Value NestEmitter::startOfAligned(unsigned level) {
  constexpr int64_t leastVectors = 8, mostOperations = 16;
  unsigned dim = levels[level].dim;
  if (!repeats || schedule.tileDim || !schedule.unrolledDims.empty() ||
      sizeOf(dim).factor < leastVectors * schedule.lanes ||
      int64_t(op.getBlock()->getOperations().size()) > mostOperations)
    return Value();
  if (llvm::any_of(*op.getBlock(), [](Operation &o) { return isa<math::MathDialect>(o.getDialect()); }))
    return Value();
  int64_t unit = lanesOfRegister();
  const Access &first = outputs().front();
  bool isKnown = first.start.isStatic();
  for (const Access &access : outputs()) {
    auto agrees = [&](const SymbolicSize &a, const SymbolicSize &b) {
      return a == b || (a.isStatic() && b.isStatic() && (a.factor - b.factor) % unit == 0);
    };
    if (!access.strides[dim].isStatic(1) || access.element != first.element || access.isOneRow ||
        !agrees(access.start, first.start) ||
        !llvm::all_of(llvm::zip_equal(access.strides, first.strides),
                      [&](auto both) { return agrees(std::get<0>(both), std::get<1>(both)); }))
      return Value();
    for (auto [other, stride] : llvm::enumerate(access.strides))
      isKnown &= other == dim || stride.isMultipleOf(unit);
  }
  if (isKnown) {
    int64_t past = first.start.factor % unit;
    return past == 0 ? Value() : indices.index(b, unit - past);
  }
  Value past = indices.remainder(b, loc, instances.front().position[numberOf(first)], unit);
  return indices.sub(b, loc, indices.index(b, unit), past);
}

/// Whole vectors in a loop, then one step for the rest: a vector that ends with the row, if elements may be computed
/// twice or the rest fills it; else a masked one.
NestEmitter::Values NestEmitter::emitVectorLoop(unsigned level, ArrayRef<Value> carried) {
  unsigned dim = levels[level].dim;
  SymbolicSize size = sizeOf(dim);
  int64_t lanes = schedule.lanes;
  Values results(carried);
  auto whole = [&](Value iv, ArrayRef<Value> inner) { return emitStep(level, iv, inner); };
  setLanes(lanes, Value());
  auto loop = [&](Value begin, Value end) {
    if (isVectorReduced()) // from 0
      return emitInBlocks(level, end, lanes, results);
    return emitLevelFor(level, begin, end, lanes, results, whole);
  };
  if (transposesTiles() && !isWhole(dim, lanes)) {
    // The transposing code is large: one masked copy of it, rather than one for whole vectors and one for the rest.
    Value end = indices.get(b, loc, size);
    results = emitLevelFor(level, indices.index(b, 0), end, lanes, results, [&](Value iv, ArrayRef<Value> inner) {
      Value rest = arith::SubIOp::create(b, loc, end, iv);
      rest = arith::MinUIOp::create(b, loc, rest, indices.index(b, lanes));
      setLanes(lanes, indices.firstLanes(b, loc, lanes, rest));
      return emitStep(level, iv, inner);
    });
  } else if (!size.isStatic() && factsOfSize(dim).max <= lanes) {
    setLanes(lanes, indices.firstLanes(b, loc, lanes, indices.get(b, loc, size)));
    results = emitStep(level, indices.index(b, 0), results);
  } else if (!size.isStatic()) {
    Value main = indices.get(b, loc, size), rest;
    if (!isWhole(dim, lanes)) {
      rest = indices.remainder(b, loc, main, lanes);
      main = indices.sub(b, loc, main, rest);
    }
    results = loop(indices.index(b, 0), main);
    if (rest)
      results = emitDynamicTail(level, main, rest, results);
  } else if (Value first = startOfAligned(level)) {
    // Vectors whose stores are aligned, between two that aren't and compute some elements again.
    int64_t unit = lanesOfRegister();
    setLanes(unit, Value());
    emitStep(level, indices.index(b, 0), {});
    setLanes(lanes, Value());
    emitLevelFor(level, first, indices.index(b, size.factor - lanes + 1), lanes, {}, whole);
    emitStep(level, indices.index(b, size.factor - lanes), {});
  } else {
    int64_t head = repeats ? 0 : elementsBeforeLine(level), main = (size.factor - head) / lanes * lanes;
    auto some = [&](int64_t from, int64_t count) {
      bool keepsLanes = isVectorReduced() || schedule.tileDim;
      int64_t someLanes = keepsLanes ? lanes : llvm::PowerOf2Ceil(count);
      Value mask;
      if (someLanes != count && repeats && someLanes <= size.factor) { // elements before these, again
        from += count - someLanes;
        count = someLanes;
      }
      if (someLanes != count)
        mask = indices.firstLanes(b, someLanes, count);
      setLanes(someLanes, mask);
      results = emitStep(level, indices.index(b, from), results);
    };
    if (head > 0) {
      some(0, head);
      setLanes(lanes, Value());
    }
    if (main == lanes)
      results = emitStep(level, indices.index(b, head), results);
    else if (main > 0)
      results = loop(indices.index(b, head), indices.index(b, head + main));
    if (int64_t rest = size.factor - head - main; rest > 0)
      some(head + main, rest);
  }
  setLanes(0, Value());
  return results;
}

NestEmitter::Values NestEmitter::emitDynamicTail(unsigned level, Value first, Value rest, ArrayRef<Value> carried) {
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, indices.index(b, 0));
  auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(carried)), any, !carried.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  setLanes(schedule.lanes, indices.firstLanes(b, loc, schedule.lanes, rest));
  Values results = emitStep(level, first, carried);
  if (carried.empty())
    return {};
  scf::YieldOp::create(b, loc, results);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, carried);
  return Values(branch.getResults());
}

} // namespace mlir::array::loops

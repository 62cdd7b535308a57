// Emits the threads' work: indices, loads, the op's body, stores; and the sums of threads that share a point, which are
// joined by shuffles within a warp and through shared memory between warps.
#include "KernelEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {

KernelEmitter::KernelEmitter(linalg::LinalgOp op, ImplicitLocOpBuilder &b)
    : op(op), b(b), sizes(op.getStaticLoopRanges()), indices(sizes.size()) {
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    (kind == utils::IteratorType::reduction ? reduced : parallel).push_back(static_cast<unsigned>(dim));
}

int64_t KernelEmitter::countOf(ArrayRef<unsigned> dims) const {
  int64_t count = 1;
  for (unsigned dim : dims)
    count *= sizes[dim];
  return count;
}

//===-- What kind of op it is -----------------------------------------------------------------------------------===//

bool KernelEmitter::isAccumulated(OpOperand &out) {
  AffineMap map = op.getMatchingIndexingMap(&out);
  return !reduced.empty() && llvm::none_of(reduced, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

SmallVector<OpOperand *> KernelEmitter::accumulated() {
  SmallVector<OpOperand *> outs;
  for (OpOperand &out : op.getDpsInitsMutable())
    if (isAccumulated(out))
      outs.push_back(&out);
  return outs;
}

bool KernelEmitter::addsTo(Value buffer) {
  unsigned uses = 0;
  for (OpOperand &operand : op->getOpOperands())
    uses += operand.get() == buffer;
  return uses == 1 && llvm::any_of(accumulated(), [&](OpOperand *out) { return out->get() == buffer; });
}

bool KernelEmitter::canShare() {
  auto outs = static_cast<unsigned>(op.getNumDpsInits());
  if (reduced.empty() || accumulated().size() != outs)
    return false;
  for (unsigned number = 0; number < outs; ++number) {
    std::optional<loops::Combiner> combiner = loops::matchCombiner(op, number);
    Type element = getElementTypeOrSelf(op.getDpsInits()[number]);
    if (!combiner || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() > 64)
      return false;
  }
  return true;
}

bool KernelEmitter::runsAlongMemory() {
  int64_t along = 0, across = 0; // elements that are read in the one way and in the other
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!type || map.getNumResults() == 0)
      continue;
    AffineExpr last = map.getResult(map.getNumResults() - 1);
    bool isAlong = llvm::any_of(reduced, [&](unsigned dim) { return last.isFunctionOfDim(dim); });
    (isAlong ? along : across) += type.getNumElements();
  }
  return along >= across;
}

//===-- Indices and elements ------------------------------------------------------------------------------------===//

// 32 bits where they suffice: a division by a constant is several times dearer with 64.
void KernelEmitter::place(ArrayRef<unsigned> dims, Value number) {
  bool isShort = countOf(dims) <= std::numeric_limits<int32_t>::max();
  Type type = isShort ? Type(b.getI32Type()) : b.getIndexType();
  Value rest = isShort ? Value(arith::IndexCastOp::create(b, type, number)) : number;
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(b, type, b.getIntegerAttr(type, value)).getResult();
  };
  for (unsigned dim : llvm::reverse(dims)) {
    Value index = dim == dims.front() ? rest : arith::RemUIOp::create(b, rest, constant(sizes[dim])).getResult();
    if (dim != dims.front())
      rest = arith::DivUIOp::create(b, rest, constant(sizes[dim]));
    indices[dim] = isShort ? Value(arith::IndexCastUIOp::create(b, b.getIndexType(), index)) : index;
  }
}

SmallVector<Value> KernelEmitter::indicesOf(OpOperand *operand) {
  SmallVector<OpFoldResult> dims;
  for (Value index : indices) // the map uses no dimension whose index is not known yet
    dims.push_back(index ? OpFoldResult(index) : OpFoldResult(b.getIndexAttr(0)));
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<Value> values;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    values.push_back(getValueOrCreateConstantIndexOp(
        b, b.getLoc(), affine::makeComposedFoldedAffineApply(b, b.getLoc(), map.getSubMap({i}), dims)));
  return values;
}

Value KernelEmitter::load(OpOperand *operand) {
  if (!isa<MemRefType>(operand->get().getType()))
    return operand->get();
  return memref::LoadOp::create(b, operand->get(), indicesOf(operand));
}

void KernelEmitter::store(Value value, OpOperand *operand) {
  memref::StoreOp::create(b, value, operand->get(), indicesOf(operand));
}

Value KernelEmitter::before(OpOperand *out) {
  Value known = initial.lookup(out->get());
  return known ? known : load(out);
}

//===-- One thread ----------------------------------------------------------------------------------------------===//

void KernelEmitter::emitPoint(Value point) {
  place(parallel, point);
  SmallVector<Value> sums = llvm::map_to_vector(accumulated(), [&](OpOperand *out) { return before(out); });
  sums = emitLoops(reduced, sums);
  for (auto [out, sum] : llvm::zip_equal(accumulated(), sums))
    store(sum, out);
}

SmallVector<Value> KernelEmitter::emitLoops(ArrayRef<unsigned> dims, ArrayRef<Value> sums) {
  if (dims.empty())
    return emitBody(sums);
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value end = arith::ConstantIndexOp::create(b, sizes[dims.front()]);
  auto loop = scf::ForOp::create(b, zero, end, one, sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[dims.front()] = loop.getInductionVar();
  SmallVector<Value> next = emitLoops(dims.drop_front(), SmallVector<Value>(loop.getRegionIterArgs()));
  if (!sums.empty())
    scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

/// One step: the new values of what is accumulated; the other outputs are stored.
SmallVector<Value> KernelEmitter::emitBody(ArrayRef<Value> sums) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands())
    if (BlockArgument argument = op.getMatchingBlockArgument(input); !argument.use_empty())
      mapping.map(argument, load(input));
  size_t next = 0;
  for (OpOperand &out : op.getDpsInitsMutable()) {
    BlockArgument argument = op.getMatchingBlockArgument(&out);
    if (isAccumulated(out))
      mapping.map(argument, sums[next++]);
    else if (!argument.use_empty())
      mapping.map(argument, load(&out));
  }
  SmallVector<Value> values = cloneBody(mapping);
  SmallVector<Value> results;
  for (auto [out, value] : llvm::zip_equal(op.getDpsInitsMutable(), values)) {
    if (isAccumulated(out))
      results.push_back(value);
    else
      store(value, &out);
  }
  return results;
}

/// What the body yields, for arguments and indices that are known.
SmallVector<Value> KernelEmitter::cloneBody(IRMapping &mapping) {
  Block &body = op->getRegion(0).front();
  for (Operation &inner : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), indices[index.getDim()]);
      continue;
    }
    // There may be indices in the regions of an operation, too.
    Operation *cloned = b.clone(inner, mapping);
    SmallVector<linalg::IndexOp> nested;
    cloned->walk([&](linalg::IndexOp index) { nested.push_back(index); });
    for (linalg::IndexOp index : nested) {
      index.getResult().replaceAllUsesWith(indices[index.getDim()]);
      index.erase();
    }
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value yielded) { return mapping.lookupOrDefault(yielded); });
}

//===-- One thread for several points ---------------------------------------------------------------------------===//

bool KernelEmitter::isDense(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  return type && type.getLayout().isIdentity() && op.getMatchingIndexingMap(&operand).isIdentity() &&
         type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() % 8 == 0;
}

int64_t KernelEmitter::neighbours() {
  constexpr int64_t widest = 128; // bits of an access
  if (!reduced.empty() || sizes.empty())
    return 1;
  int64_t bits = 0;
  for (OpOperand &operand : op->getOpOperands())
    if (isDense(operand))
      bits = std::max<int64_t>(bits, cast<MemRefType>(operand.get().getType()).getElementTypeBitWidth());
  bool storesDense = llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &out) { return isDense(out); });
  if (!storesDense || bits == 0 || widest % bits != 0)
    return 1;
  return sizes.back() % (widest / bits) == 0 ? widest / bits : 1;
}

void KernelEmitter::emitNeighbours(Value point, int64_t count) {
  place(parallel, point);
  auto vectorOf = [&](Type element) { return VectorType::get({count}, element); };
  auto alignment = [&](Type element) { return b.getI64IntegerAttr(count * element.getIntOrFloatBitWidth() / 8); };
  // Everything is read before anything is written: an output may lie where an input does.
  DenseMap<OpOperand *, Value> loaded;
  for (OpOperand &operand : op->getOpOperands())
    if (isDense(operand) && !op.getMatchingBlockArgument(&operand).use_empty()) {
      Type element = getElementTypeOrSelf(operand.get());
      auto vector = vector::LoadOp::create(b, vectorOf(element), operand.get(), indicesOf(&operand));
      vector->setAttr("alignment", alignment(element));
      loaded[&operand] = vector;
    }
  unsigned last = static_cast<unsigned>(sizes.size()) - 1;
  Value first = indices[last];
  SmallVector<SmallVector<Value>> results(op.getNumDpsInits());
  for (int64_t number = 0; number < count; ++number) {
    indices[last] = arith::AddIOp::create(b, first, arith::ConstantIndexOp::create(b, number));
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty())
        continue;
      Value vector = loaded.lookup(&operand);
      mapping.map(argument, vector ? vector::ExtractOp::create(b, vector, number).getResult() : load(&operand));
    }
    for (auto [result, value] : llvm::zip_equal(results, cloneBody(mapping)))
      result.push_back(value);
  }
  indices[last] = first;
  for (auto [out, values] : llvm::zip_equal(op.getDpsInitsMutable(), results)) {
    Type element = values.front().getType();
    Value vector = vector::FromElementsOp::create(b, vectorOf(element), values);
    auto stored = vector::StoreOp::create(b, vector, out.get(), indicesOf(&out));
    stored->setAttr("alignment", alignment(element));
  }
}

//===-- Threads that share a point ------------------------------------------------------------------------------===//

void KernelEmitter::emitShare(Value point, Value thread, int64_t threads, gpu::LaunchOp launch) {
  place(parallel, point);
  SmallVector<loops::Combiner> combiners;
  SmallVector<Value> parts;
  for (unsigned number = 0; number < op.getNumDpsInits(); ++number) {
    combiners.push_back(*loops::matchCombiner(op, number));
    parts.push_back(arith::ConstantOp::create(b, combiners.back().neutral));
  }
  // Neighbours take neighbouring steps.
  Value end = arith::ConstantIndexOp::create(b, steps()), stride = arith::ConstantIndexOp::create(b, threads);
  auto loop = scf::ForOp::create(b, thread, end, stride, parts);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    place(reduced, loop.getInductionVar());
    SmallVector<Value> next = emitBody(SmallVector<Value>(loop.getRegionIterArgs()));
    scf::YieldOp::create(b, next);
  }
  SmallVector<Value> sums;
  for (auto [combiner, part] : llvm::zip_equal(combiners, loop.getResults())) {
    Value sum = joinWarp(part, combiner);
    sums.push_back(threads > kWarpSize ? joinBlock(sum, combiner, thread, threads / kWarpSize, launch) : sum);
  }
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, arith::ConstantIndexOp::create(b, 0));
  auto first = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&first.getThenRegion().front());
  for (auto [out, combiner, sum] : llvm::zip_equal(accumulated(), combiners, sums))
    store(combine(combiner, before(out), sum), out);
}

Value KernelEmitter::combine(const loops::Combiner &combiner, Value x, Value y) {
  return vector::makeArithReduction(b, b.getLoc(), combiner.kind, x, y);
}

Value KernelEmitter::joinWarp(Value part, const loops::Combiner &combiner) {
  for (int64_t distance = kWarpSize / 2; distance > 0; distance /= 2)
    part = combine(combiner, part, shuffled(part, distance));
  return part;
}

/// The first lane of each warp leaves its sum in shared memory, and the first warp joins them. The others get there
/// what is of no use.
Value KernelEmitter::joinBlock(Value part, const loops::Combiner &combiner, Value thread, int64_t warps,
                               gpu::LaunchOp launch) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value shared = launch.addWorkgroupAttribution(
      MemRefType::get({warps}, part.getType(), MemRefLayoutAttrInterface(), space), b.getLoc());
  Value size = arith::ConstantIndexOp::create(b, kWarpSize), zero = arith::ConstantIndexOp::create(b, 0);
  Value warp = arith::DivUIOp::create(b, thread, size), lane = arith::RemUIOp::create(b, thread, size);
  auto isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, zero);
  auto leave = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&leave.getThenRegion().front());
    memref::StoreOp::create(b, part, shared, warp);
  }
  gpu::BarrierOp::create(b);
  Value count = arith::ConstantIndexOp::create(b, warps);
  auto hasOne = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lane, count);
  auto fetch = scf::IfOp::create(b, TypeRange{part.getType()}, hasOne, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(fetch.thenBlock());
    scf::YieldOp::create(b, memref::LoadOp::create(b, shared, lane).getResult());
    b.setInsertionPointToStart(fetch.elseBlock());
    scf::YieldOp::create(b, arith::ConstantOp::create(b, combiner.neutral).getResult());
  }
  return joinWarp(fetch.getResult(0), combiner);
}

/// The value of the lane whose number differs by `distance`. The hardware moves 32 bits.
Value KernelEmitter::shuffled(Value value, int64_t distance) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value offset = arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(distance)));
  Value lanes = arith::ConstantOp::create(b, b.getI32IntegerAttr(kWarpSize));
  auto move = [&](Value word) {
    return gpu::ShuffleOp::create(b, word, offset, lanes, gpu::ShuffleMode::XOR).getShuffleResult();
  };
  if (width == 32)
    return move(value);
  Type bitsType = b.getIntegerType(width), word = b.getI32Type();
  Value bits = isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, bitsType, value)) : value;
  if (width < 32) {
    bits = arith::TruncIOp::create(b, bitsType, move(arith::ExtUIOp::create(b, word, bits)));
  } else {
    Value half = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    Value low = move(arith::TruncIOp::create(b, word, bits));
    Value high = move(arith::TruncIOp::create(b, word, arith::ShRUIOp::create(b, bits, half)));
    Value upper = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, bitsType, high), half);
    bits = arith::OrIOp::create(b, upper, arith::ExtUIOp::create(b, bitsType, low));
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, type, bits)) : bits;
}

} // namespace mlir::array

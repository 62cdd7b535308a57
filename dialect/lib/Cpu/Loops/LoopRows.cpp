// Several nests that share the loop over their rows, and one nest that is divided into blocks (LoopNest.h).
#include "Analysis/ParallelLoops.h"
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array::loops {

/// The maximum number of blocks of rows: more would not justify the memory of a row for each.
static constexpr int64_t mostBlocks = 64;

/// The shared loop over the rows. If threads share it, and rows share memory that does not belong to a thread, each
/// block of rows takes the memory of one row. Returns the maximum number of blocks.
static int64_t emitRows(OpBuilder &b, IndexBuilder &indices, Location loc, ArrayRef<Nest> nests, double costNs,
                        ArrayRef<std::unique_ptr<NestEmitter>> emitters) {
  const SymbolicSize &size = nests.front().space.dims.front().size;
  auto loop = [&](Value begin, Value end, Value step, function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(b, loc, begin, end, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
    return loop;
  };
  auto row = [&](Value iv) {
    for (auto &emitter : emitters)
      emitter->emitRow(iv);
  };
  Value zero = indices.index(b, 0), one = indices.index(b, 1), rows = indices.get(b, loc, size);
  bool sharesMemory = llvm::any_of(nests, [](const Nest &nest) {
    return llvm::any_of(nest.space.accesses,
                        [](const Access &access) { return access.isOneRow && !access.strideOfBlocks.isZero(); });
  });
  auto inBlocks = [&](Value block, bool isEven) {
    return loop(zero, rows, block, [&](Value first) {
      if (sharesMemory) {
        Value number = arith::DivUIOp::create(b, loc, first, block);
        for (auto &emitter : emitters)
          emitter->startBlock(number);
      }
      Value end = indices.add(b, loc, first, block);
      if (!isEven)
        end = indices.minimum(b, loc, end, rows);
      loop(first, end, one, row);
    });
  };

  if (llvm::all_of(nests, [](const Nest &nest) { return hasStaticSizes(nest.space); })) {
    double rowNs = costNs / double(size.factor);
    int64_t block = 0;
    if (sharesMemory && costNs >= kSharedNs)
      block = std::max<int64_t>(std::ceil(kPieceNs / rowNs), llvm::divideCeil(size.factor, mostBlocks));
    if (block == 0 || block * 2 > size.factor) {
      scf::ForOp rowLoop = loop(zero, rows, one, row);
      if (!sharesMemory)
        markParallel(rowLoop, size.factor, rowNs);
      return 1;
    }
    if (int64_t even = blockOf(size.factor, block, 1))
      block = even;
    scf::ForOp blocks = inBlocks(indices.index(b, block), size.factor % block == 0);
    int64_t count = llvm::divideCeil(size.factor, block);
    markParallel(blocks, count, rowNs * double(block));
    return count;
  }

  SymbolicSize picoseconds(0);
  for (const Nest &nest : nests)
    picoseconds = indices.sum(b, loc, picoseconds, picosecondsOfStep(nest, 0, nest.schedule.registerBits));
  if ((picoseconds * size).isAtMost(int64_t(kSharedNs * 1000))) {
    loop(zero, rows, one, row);
    return 1;
  }
  if (picoseconds.isStatic() && !sharesMemory) {
    markSized(loop(zero, rows, one, row), size, picoseconds.factor);
    return 1;
  }
  Value block = iterationsOfPiece(b, indices, loc, rows, picoseconds);
  if (sharesMemory)
    block = indices.maximum(b, loc, block, indices.ceilDiv(b, loc, rows, indices.index(b, mostBlocks)));
  markPieces(inBlocks(block, false));
  return std::min(mostBlocks, size.facts().max);
}

/// A reduction that was divided into blocks: their results, in a buffer for each output, and then the combination of
/// the results, in the order of the blocks. Many results are combined in blocks as well.
static void emitCutReduction(OpBuilder &b, IndexBuilder &indices, Nest &nest, const Blocks &blocks, double costNs) {
  linalg::LinalgOp op = nest.op;
  Location loc = op.getLoc();
  struct Output {
    Access whole;
    Value buffer;
    SymbolicSize start;
    Combiner combiner;
  };
  // If there are columns, they are the vector dimension.
  unsigned vectorDim = *nest.schedule.vectorDim;
  bool hasColumns = !nest.space.dims[vectorDim].reduced;
  int64_t columns = hasColumns ? nest.space.dims[vectorDim].size.factor : 1, lanes = nest.schedule.lanes;
  bool keepsRows = nest.schedule.tileDim.has_value(); // in memory
  SmallVector<Output, 2> outputs;
  for (auto [number, access] : llvm::enumerate(MutableArrayRef(nest.space.accesses).drop_front(nest.space.numInputs))) {
    Combiner combiner = *matchCombiner(op, number);
    auto [buffer, start] = placeRows(b, indices, loc, nest, blocks.most * columns, access.element, number,
                                     /*shared=*/true);
    outputs.push_back({access, buffer, start, combiner});
    access.memref = access.flat = buffer;
    access.start = start;
    access.strides.assign(access.strides.size(), SymbolicSize(0));
    access.strides[0] = SymbolicSize(columns);
    if (hasColumns)
      access.strides[vectorDim] = SymbolicSize(1);
    if (keepsRows)
      nest.startsFromNeutral = true;
    else
      access.init = indices.constant(b, combiner.neutral);
  }
  NestEmitter emitter(b, indices, nest);
  emitter.prepare(costNs);
  emitter.emitLoops();
  BodyCloner memory(b, indices, nest.schedule.registerBits);
  auto join = [&](Value column) {
    SmallVector<Value> start, places;
    for (Output &output : outputs) {
      SymbolicSize stride = hasColumns ? output.whole.strides[vectorDim] : SymbolicSize(0);
      places.push_back(indices.advance(b, loc, indices.get(b, loc, output.whole.start), column, stride));
      start.push_back(output.whole.init ? output.whole.init
                                        : memory.load(loc, output.whole.flat, places.back(), stride));
      if (hasColumns)
        start.back() = memory.toVector(start.back());
    }
    auto combined = [&](ValueRange before, function_ref<Value(Output &)> valueOf) {
      SmallVector<Value> next;
      for (auto [output, value] : llvm::zip_equal(outputs, before))
        next.push_back(combine(b, output.combiner, output.whole.argument, value, valueOf(output)));
      return next;
    };
    auto addBlock = [&](Value block, ValueRange before) {
      Value at = indices.advance(b, loc, column, block, SymbolicSize(columns));
      return combined(before, [&](Output &output) {
        Value place = indices.add(b, loc, indices.get(b, loc, output.start), at);
        return memory.load(loc, output.buffer, place, SymbolicSize(hasColumns ? 1 : 0));
      });
    };
    // Adds the blocks from `first` on, this many at once.
    auto addBlocks = [&](auto &&addBlocks, Value first, Value last, int64_t each, ValueRange before) -> ValueRange {
      auto loop = scf::ForOp::create(b, loc, first, last, indices.index(b, each), before);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value at = loop.getInductionVar();
      SmallVector<Value> next;
      if (each == 1) {
        next = addBlock(at, loop.getRegionIterArgs());
      } else {
        SmallVector<Value> neutral;
        for (auto [output, value] : llvm::zip_equal(outputs, before))
          neutral.push_back(splat(b, indices, value.getType(), output.combiner.neutral));
        Value end = indices.minimum(b, loc, indices.add(b, loc, at, indices.index(b, each)), last);
        ValueRange values = addBlocks(addBlocks, at, end, each / blocksOfBlock, neutral);
        unsigned number = 0;
        next = combined(loop.getRegionIterArgs(), [&](Output &) { return values[number++]; });
      }
      scf::YieldOp::create(b, loc, next);
      return loop.getResults();
    };
    int64_t each = 1;
    while (each * blocksOfBlock < blocks.most)
      each *= blocksOfBlock;
    Value count = indices.get(b, loc, blocks.count);
    ValueRange results = addBlocks(addBlocks, indices.index(b, 0), count, each, start);
    for (auto [output, place, result] : llvm::zip_equal(outputs, places, results))
      memory.store(loc, result, output.whole.flat, place,
                   hasColumns ? output.whole.strides[vectorDim] : SymbolicSize(0));
  };
  if (!hasColumns)
    return join(indices.index(b, 0));
  sweepColumns(b, indices, loc, columns, lanes, [&](Value column, Value mask) {
    memory.setLanes(lanes, mask);
    join(column);
  });
}

int64_t emitNests(OpBuilder &b, IndexBuilder &indices, ArrayRef<Nest> nests, int64_t registerBits) {
  double costNs = 0;
  for (const Nest &nest : nests)
    costNs += estimateNs(nest, registerBits);
  if (nests.size() == 1) {
    Nest nest = nests.front();
    if (std::optional<Blocks> blocks = cutReduction(b, indices, nest)) {
      emitCutReduction(b, indices, nest, *blocks, costNs);
      return 1;
    }
    std::optional<Nest> rest;
    if (nest.space.hasReduction() && !hasStaticSizes(nest.space))
      cutColumns(b, indices, nest);
    else if (nest.space.hasReduction() && costNs >= kSharedNs)
      rest = cutColumns(nest, costNs, kPieceNs);
    NestEmitter emitter(b, indices, nest);
    emitter.prepare(costNs);
    emitter.emitLoops();
    if (rest) {
      NestEmitter last(b, indices, *rest);
      last.prepare();
      last.emitLoops();
    }
    return 1;
  }
  SmallVector<std::unique_ptr<NestEmitter>> emitters;
  for (const Nest &nest : nests) {
    emitters.push_back(std::make_unique<NestEmitter>(b, indices, nest));
    emitters.back()->prepare();
  }
  for (auto &emitter : emitters)
    emitter->emitHoisted();
  return emitRows(b, indices, nests.back().op->getLoc(), nests, costNs, emitters);
}

} // namespace mlir::array::loops

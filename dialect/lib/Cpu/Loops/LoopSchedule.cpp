// Chooses the vector dimension and the vector length (LoopNest.h).
#include "Analysis/Caches.h"
#include "LoopChoices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array::loops {

/// The cost of an element that is loaded or stored alone; a whole vector at unit stride costs the same.
static constexpr double elementCost = 1.0;
static constexpr double uniformCost = 0.2;
/// The cost of joining the lanes of an accumulator after the loop, for each halving.
static constexpr double horizontalCost = 2.0;
static constexpr double scatterCost = 1.5;
/// The cost of an element of an input whose tiles are transposed in registers.
static constexpr double transposedCost = 0.25;
/// The minimum size for transposing in registers.
static constexpr int64_t minTransposed = 9;
/// Squares along each side of a whole transposed block: a row of four is four cache lines of f32, which hardware
/// prefetches.
static constexpr int64_t mostSquares = 4;
/// Rows that a reduction across the vectors takes before it moves to the next vector of the row: accumulators are
/// loaded and stored once for them, and memory is read in long runs. More rows, a power of two apart, would evict each
/// other from the first cache. If the input comes from memory, and its rows are adjacent without gaps, it is read row
/// by row instead, provided that the accumulators stay in the first cache: hardware prefetches in this order. Both add
/// in one order.
static constexpr int64_t cachedRows = 4, streamedRows = 1, leastStreamed = 17, mostBytesOfRow = 16 << 10;
/// A reduction prefetches if it reads at least this many times the elements that it writes.
static constexpr int64_t leastReduced = 8;
/// Registers for accumulators of a reduction across the vectors that hold a whole row, and the number of operations for
/// which this leaves enough temporaries.
static constexpr int64_t rowRegisters = 8, rowOperations = 4;
/// The maximum number of unrolled steps, and of operations in them.
static constexpr int64_t unrolledSteps = 16, unrolledOperations = 96;
/// The stride limit, in elements, up to which a step computes several registers of results.
static constexpr int64_t nearElements = 4;
int64_t widthOf(Type type) {
  if (type.isIndex())
    return 64;
  return type.isInteger(1) ? 0 : std::max<int64_t>(8, type.getIntOrFloatBitWidth());
}

namespace {
/// The values of a body that vary with `dim`. They are found once, in the order of the body, because a value may be
/// reached by very many paths, like the squares of an integer power.
class VaryingValues {
public:
  VaryingValues(const IterationSpace &space, unsigned dim, Block *body) {
    for (BlockArgument argument : body->getArguments())
      if (space.accesses[argument.getArgNumber()].moves(dim))
        values.insert(argument);
    for (Operation &op : body->without_terminator()) {
      auto index = dyn_cast<linalg::IndexOp>(op);
      if (index ? space.dims[dim].indexSource == index.getDim() : llvm::any_of(op.getOperands(), std::cref(*this)))
        values.insert(op.result_begin(), op.result_end());
    }
  }
  bool operator()(Value bodyValue) const { return values.contains(bodyValue); }

private:
  SmallPtrSet<Value, 16> values;
};
} // namespace

/// They fill several registers with the widest values that vary along `dim`: two for a plain elementwise body, four to
/// hide latencies (reductions, polynomials). Index arithmetic mostly ends in an address and does not count.
int64_t lanesFor(linalg::LinalgOp op, const IterationSpace &space, unsigned dim, int64_t registerBits) {
  const SymbolicSize &size = space.dims[dim].size;
  int64_t width = 8;
  bool isHeavy = space.hasReduction();
  for (const Access &access : space.accesses)
    width = std::max(width, widthOf(access.element));
  VaryingValues varies(space, dim, op.getBlock());
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    if (bodyOp.getNumResults() == 0 || !varies(bodyOp.getResult(0)))
      continue;
    isHeavy |= isa<math::MathDialect>(bodyOp.getDialect());
    for (Type type : bodyOp.getResultTypes())
      width = std::max(width, type.isIndex() ? 0 : widthOf(type));
  }
  int64_t lanes = (isHeavy ? 4 : 2) * registerBits / width;
  // More lanes than elements would always be masked out. A size that is small now may be large in another call.
  return size.isAtMost(lanes) ? std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(size.facts().max, 1)))
                              : lanes;
}

bool mayBeVector(linalg::LinalgOp op, const IterationSpace &space, unsigned dim) {
  if (!space.dims[dim].reduced)
    return true;
  // The first of equal elements has the minimum index only if this dimension alone orders the elements.
  if (std::optional<ArgReduction> arg = matchArgReduction(op))
    return space.dims[dim].indexSource == arg->dim &&
           llvm::count_if(space.dims, [](const LoopDim &other) { return other.reduced; }) == 1;
  for (auto [number, access] : llvm::enumerate(space.outputs())) {
    if (access.moves(dim))
      continue;
    bool isPartial = llvm::any_of(llvm::enumerate(space.dims), [&, &access = access](const auto &other) {
      return other.value().reduced && access.moves(other.index());
    });
    if (isPartial || !matchCombiner(op, number))
      return false;
  }
  return true;
}

bool isAtLeast(const SymbolicSize &size, int64_t least) { return size.expected() >= least; }

/// Whether the vectors of a reduction may get this input by transposing tiles of it: along some reduced dimension.
static bool mayTransposeForReduction(const IterationSpace &space, const Access &access, unsigned dim) {
  return !access.isOutput && !space.dims[dim].reduced && isAtLeast(space.dims[dim].size, minTransposed) &&
         llvm::any_of(llvm::enumerate(space.dims), [&](auto other) {
           return other.value().reduced && access.strides[other.index()].isStatic(1) &&
                  isAtLeast(other.value().size, minTransposed);
         });
}

static double costOf(linalg::LinalgOp op, const IterationSpace &space, unsigned dim, int64_t lanes,
                     int64_t registerBits) {
  const LoopDim &loop = space.dims[dim];
  int64_t size = std::max<int64_t>(loop.size.expected(), 1);
  // Elements for each step, counting that the last step may be part empty.
  double filled = double(size) / llvm::divideCeil(size, lanes);
  double cost = 0;
  for (const Access &access : space.accesses) {
    if (!access.moves(dim))
      cost += uniformCost / filled;
    else if (access.strides[dim].isStatic(1) || (access.strides[dim].isStatic(-1) && !access.isOutput))
      cost += elementCost / filled;
    else if (isInterleaved(access.strides[dim]))
      cost += (access.isOutput ? scatterCost : elementCost) * double(access.strides[dim].factor) *
              double(std::max<int64_t>(widthOf(access.element), 8)) / double(registerBits);
    else if (mayTransposeForReduction(space, access, dim))
      cost += transposedCost;
    else
      cost += access.isOutput ? scatterCost : elementCost;
  }
  VaryingValues varies(space, dim, op.getBlock());
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    cost += elementCost / filled;
    auto load = dyn_cast<memref::LoadOp>(bodyOp);
    if (!load || load.getIndices().empty())
      continue;
    bool leadingVary = llvm::any_of(load.getIndices().drop_back(), std::cref(varies));
    if (leadingVary || (varies(load.getIndices().back()) && !load.getIndices().back().getDefiningOp<linalg::IndexOp>()))
      cost += elementCost;
  }
  if (loop.reduced)
    cost += horizontalCost * llvm::Log2_64_Ceil(lanes) / size;
  return cost;
}

bool hasPartialOutput(const IterationSpace &space) {
  return llvm::any_of(space.outputs(), [&](const Access &access) {
    auto reduced = llvm::make_filter_range(llvm::enumerate(space.dims), [](auto dim) { return dim.value().reduced; });
    bool moves = llvm::any_of(reduced, [&](auto dim) { return access.moves(dim.index()); });
    return moves && llvm::any_of(reduced, [&](auto dim) { return !access.moves(dim.index()); });
  });
}

/// Whether blocks of that size leave little beyond the end.
static bool fillsBlocks(const SymbolicSize &size, int64_t block) {
  int64_t expected = size.expected();
  return expected * 8 >= (expected + block - 1) / block * block * 7;
}

/// Tiles the dimension along which most inputs across the vectors are contiguous; else, for a reduction across several
/// vectors, the reduced dimension, for streaming.
static void chooseTile(const IterationSpace &space, LoopSchedule &schedule) {
  const LoopDim &vector = space.dims[*schedule.vectorDim];
  bool reduces = space.hasReduction();
  bool isFull = llvm::all_of(space.dims, [](const LoopDim &dim) { return dim.reduced; });
  if ((vector.reduced && !isFull) || !isAtLeast(vector.size, minTransposed) || hasPartialOutput(space))
    return;
  int64_t most = 0, side = 0;
  for (unsigned dim = 0; dim < space.dims.size(); ++dim) {
    if (dim == *schedule.vectorDim || space.dims[dim].reduced != reduces ||
        !isAtLeast(space.dims[dim].size, minTransposed))
      continue;
    LoopSchedule tiled = schedule;
    tiled.tileDim = dim;
    int64_t count = 0, dimSide = 0;
    for (const Access &access : space.inputs()) {
      // A short row that is reduced is unrolled instead.
      if (!tiled.transposes(access) || (reduces && isInterleaved(access.strides[*schedule.vectorDim])))
        continue;
      count += 1;
      dimSide = std::max(dimSide, transposeSide(access.element));
    }
    if (count > most) {
      schedule.tileDim = dim;
      most = count;
      side = dimSide;
    }
  }
  if (schedule.tileDim) {
    // Adjacent squares: the second one reads the next cache line of the rows before it is evicted.
    schedule.tileSize = isAtLeast(space.dims[*schedule.tileDim].size, side + 1) ? 2 * side : side;
    schedule.lanes = std::max(schedule.lanes, side);
    int64_t large = mostSquares * side, width = 8;
    for (const Access &access : space.accesses)
      width = std::max(width, widthOf(access.element));
    int64_t lanes = std::max(schedule.lanes, std::min(large, 4 * schedule.registerBits / width));
    if (!reduces && fillsBlocks(space.dims[*schedule.tileDim].size, large) && fillsBlocks(vector.size, lanes)) {
      schedule.tileSize = large;
      schedule.lanes = lanes;
    }
  }
}

bool hasDenseRows(const IterationSpace &space, unsigned rows, unsigned dim) {
  int64_t bytes = 0;
  for (const Access &access : space.outputs())
    bytes += bytesOf(access.element);
  return space.dims[dim].size.expected() * bytes <= mostBytesOfRow &&
         llvm::all_of(space.inputs(), [&](const Access &access) {
           return !access.moves(rows) || !access.moves(dim) ||
                  (access.strides[dim].isStatic(1) && access.strides[rows] == space.dims[dim].size);
         });
}

/// Whether the inputs exceed the second cache.
static bool exceedsCache(const IterationSpace &space) {
  int64_t bytes = 0;
  for (const Access &access : space.inputs())
    bytes += space.bytesTouched(access);
  return bytes > secondCacheBytes();
}

static void chooseStreaming(const IterationSpace &space, LoopSchedule &schedule) {
  const LoopDim &vector = space.dims[*schedule.vectorDim];
  unsigned last = space.dims.size() - 1; // reduced dimensions are last, ordered down to the narrowest stride
  if (schedule.tileDim || schedule.jamDim || !schedule.unrolledDims.empty() || vector.reduced ||
      !space.hasReduction() || hasPartialOutput(space) || !isAtLeast(vector.size, schedule.lanes + 1) ||
      !isAtLeast(space.dims[last].size, leastStreamed))
    return;
  schedule.tileDim = last;
  // Each output is loaded and stored for a tile. Blocks of a long sum are whole tiles.
  schedule.readsInOrder = exceedsCache(space) && hasDenseRows(space, last, *schedule.vectorDim);
  schedule.tileSize = llvm::PowerOf2Ceil((schedule.readsInOrder ? streamedRows : cachedRows) * space.outputs().size());
}

static bool hasMath(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &bodyOp) { return isa<math::MathDialect>(bodyOp.getDialect()); });
}

/// A row that fits in the registers is one vector.
static void widenToRow(linalg::LinalgOp op, const IterationSpace &space, int64_t registerBits, LoopSchedule &schedule) {
  const LoopDim &vector = space.dims[*schedule.vectorDim];
  if (vector.reduced || !space.hasReduction() || hasPartialOutput(space) || !vector.size.isStatic() ||
      vector.size.factor <= schedule.lanes || !llvm::isPowerOf2_64(vector.size.factor) || hasMath(op) ||
      llvm::range_size(op.getBlock()->without_terminator()) > rowOperations)
    return;
  int64_t bits = 0;
  for (const Access &access : space.accesses) {
    if (!access.moves(*schedule.vectorDim))
      continue;
    if (!access.strides[*schedule.vectorDim].isStatic(1))
      return;
    bits += access.isOutput ? widthOf(access.element) : 0;
  }
  if (vector.size.factor * bits <= rowRegisters * registerBits)
    schedule.lanes = vector.size.factor;
}

/// Prefetches if the op mostly reads memory in order.
static void choosePrefetch(linalg::LinalgOp op, const IterationSpace &space, int64_t prefetchDistance,
                           LoopSchedule &schedule) {
  const LoopDim &vector = space.dims[*schedule.vectorDim];
  bool isOneVector = !schedule.tileDim && vector.size.isAtMost(schedule.lanes);
  if (!space.hasReduction() || !exceedsCache(space) || hasMath(op) ||
      !(vector.reduced || isOneVector || schedule.readsInOrder))
    return;
  int64_t read = 0, written = 0;
  for (const Access &access : space.accesses)
    (access.isOutput ? written : read) += space.bytesTouched(access);
  if (written * leastReduced <= read)
    schedule.prefetchBytes = prefetchDistance;
}

/// A sum over a row that an earlier nest has read finds it in the first cache, so memory is idle meanwhile. Hardware
/// prefetching stops at the end of a page, and so do rows of some sizes: layer normalization of 1000 x 1003 takes 4%
/// less time on Zen 4. Longer rows would evict the current ones, and math functions leave enough time.
void chooseFetchOfRows(MutableArrayRef<Nest> nests) {
  constexpr int64_t leastBytes = 2 << 10, mostBytes = 8 << 10;
  SmallPtrSet<Value, 8> read;
  Nest *last = nullptr;
  for (Nest &nest : nests) {
    const LoopSchedule &schedule = nest.schedule;
    bool sumsRows = nest.startsWithRows() && schedule.vectorDim && nest.space.dims[*schedule.vectorDim].reduced &&
                    nest.space.hasReduction() && exceedsCache(nest.space) && !hasMath(nest.op);
    for (const Access &access : nest.space.inputs()) {
      if (access.scalar || access.isOneRow || !access.strides[0].isStatic())
        continue;
      int64_t bytes = access.strides[0].factor * bytesOf(access.element);
      bool isAgain = !read.insert(access.memref).second;
      if (sumsRows && isAgain && bytes >= leastBytes && bytes <= mostBytes)
        last = &nest;
    }
  }
  if (last)
    last->schedule.fetchesNextRow = true;
}

/// Unrolls the short dimensions whose elements lie between those of a vector: they are in the same loaded registers.
static void chooseUnrolled(linalg::LinalgOp op, const IterationSpace &space, LoopSchedule &schedule) {
  if (schedule.tileDim || space.dims[*schedule.vectorDim].reduced)
    return;
  int64_t operations = schedule.jamSize * (1 + llvm::range_size(op.getBlock()->without_terminator())), steps = 1;
  for (unsigned dim = space.dims.size(); dim-- > 0;) {
    const SymbolicSize &size = space.dims[dim].size;
    if (dim == *schedule.vectorDim || dim == schedule.jamDim || !size.isStatic() ||
        steps * size.factor > std::min(unrolledSteps, unrolledOperations / operations))
      continue;
    bool liesBetween = llvm::any_of(space.accesses, [&](const Access &access) {
      return access.moves(dim) && isInterleaved(access.strides[*schedule.vectorDim]) &&
             access.strides[*schedule.vectorDim].exceeds(access.strides[dim]);
    });
    if (!liesBetween)
      continue;
    schedule.unrolledDims.push_back(dim);
    steps *= size.factor;
  }
}

bool hasVectorForm(linalg::LinalgOp op, const IterationSpace &space) {
  bool hasBits = llvm::any_of(space.accesses, [](const Access &access) {
    return !access.scalar && access.element.isInteger(1); // vectors of i1 are packed in memory, scalars are not
  });
  return !hasBits && canVectorize(*op.getBlock());
}

LoopSchedule chooseSchedule(linalg::LinalgOp op, const IterationSpace &space, const Machine &machine, bool jamsRows) {
  int64_t registerBits = machine.registerBits;
  LoopSchedule best;
  best.registerBits = registerBits;
  if (!hasVectorForm(op, space))
    return best;
  double bestCost = 0;
  for (unsigned dim = 0; dim < space.dims.size(); ++dim) {
    if (!mayBeVector(op, space, dim))
      continue;
    int64_t lanes = lanesFor(op, space, dim, registerBits);
    if (lanes == 0) // an element is wider than the registers
      continue;
    double cost = costOf(op, space, dim, lanes, registerBits);
    if (best.vectorDim && cost > bestCost)
      continue;
    best.vectorDim = dim;
    best.lanes = lanes;
    bestCost = cost;
  }
  if (best.vectorDim) {
    bool areFar = llvm::any_of(space.accesses, [&](const Access &access) {
      return !access.scalar && isInterleaved(access.strides[*best.vectorDim]) &&
             access.strides[*best.vectorDim].factor > nearElements;
    });
    if (areFar)
      best.lanes = std::min<int64_t>(best.lanes, registerBits / 32);
    chooseTile(space, best);
    chooseJam(op, space, registerBits, best);
    chooseUnrolled(op, space, best);
    if (jamsRows)
      jamSharedRows(op, space, registerBits, best);
    if (!best.tileDim && !best.jamDim && best.unrolledDims.empty())
      widenToRow(op, space, registerBits, best);
    chooseStreaming(space, best);
    choosePrefetch(op, space, machine.prefetchDistance, best);
  }
  return best;
}

} // namespace mlir::array::loops

// The cost of a nest, and the choice of loops that threads share (ParallelLoops.h).
#include "Analysis/Caches.h"
#include "Analysis/ParallelLoops.h"
#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array::loops {

/// Nanoseconds of an operation on one register or scalar; the number of those for a function of the math dialect, for a
/// division of integers, and for one of floats by a constant; and nanoseconds for a byte between memory, or the second
/// cache, and the core.
static constexpr double operationNs = 0.15, mathOperations = 25, divisions = 5, constantDivisions = 8,
                        scalarMathNs = 10, byteNs = 0.04, cachedByteNs = 0.015;
/// Nanoseconds of a division of floats for each byte of an element. A divider is not wider for wider registers.
static constexpr double dividedByteNs = 0.07;
/// Nanoseconds for an element: loaded to a single lane, in a transposed block, and loaded by a register together with
/// the columns between it and the next.
static constexpr double elementNs = 0.4, transposedNs = 0.25, interleavedNs = 0.2;

static int64_t bitsOf(Type type) { return type.isIntOrFloat() ? std::max(8u, type.getIntOrFloatBitWidth()) : 64; }

static double operationsOf(Operation *op) {
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return divisions;
  if (isa<arith::DivFOp>(op)) // by a constant
    return constantDivisions;
  bool isInstruction = isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
                           math::RoundEvenOp, math::TruncOp>(op);
  return isa<math::MathDialect>(op->getDialect()) && !isInstruction ? mathOperations : 1;
}

/// The divisions of floats that an operation takes: a root takes twice as long. By a constant it is none
/// (array-expand-quotients).
static double dividerUsesOf(Operation *op) {
  if (isa<arith::DivFOp>(op))
    return matchPattern(op->getOperand(1), m_Constant()) ? 0 : 1;
  return isa<math::SqrtOp>(op) ? 2 : isa<math::RsqrtOp>(op) ? 3 : 0;
}

/// bf16 is converted to f32 before an operation, and rounded after it (array-expand-bfloat16).
static double conversionsOf(Operation *op) {
  constexpr double widen = 2, round = 8;
  if (isa<arith::SelectOp, arith::BitcastOp>(op))
    return 0;
  double operations = widen * llvm::count_if(op->getOperandTypes(), [](Type type) { return type.isBF16(); });
  return operations + round * llvm::count_if(op->getResultTypes(), [](Type type) { return type.isBF16(); });
}

double estimateNs(const Nest &nest, int64_t registerBits) {
  const IterationSpace &space = nest.space;
  linalg::LinalgOp op = nest.op;
  double points = 1;
  for (const LoopDim &dim : space.dims)
    points *= double(dim.size.expected());
  std::optional<unsigned> vector = nest.schedule.vectorDim;
  double eachNs = 0, bytes = 0;
  for (const Access &access : space.accesses) {
    if (access.scalar)
      continue;
    double elements = 1;
    for (auto [d, dim] : llvm::enumerate(space.dims))
      if (access.moves(d))
        elements *= double(dim.size.expected());
    bytes += elements * double(bitsOf(access.element)) / 8;
    if (!vector)
      eachNs += operationNs;
    else if (access.moves(*vector) && !access.strides[*vector].isStatic(1))
      eachNs += isInterleaved(access.strides[*vector]) ? interleavedNs
                : nest.schedule.transposes(access)     ? transposedNs
                                                       : elementNs;
  }
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    double operations = operationsOf(&bodyOp), conversions = conversionsOf(&bodyOp);
    if (double uses = dividerUsesOf(&bodyOp)) {
      operations = 0;
      eachNs += uses * dividedByteNs * std::max(32., double(bitsOf(bodyOp.getResult(0).getType()))) / 8;
    }
    bool isMath = operations == mathOperations;
    double lanes = 1;
    if (vector && bodyOp.getNumResults() > 0)
      lanes =
          double(registerBits) / double(std::max<int64_t>(bitsOf(bodyOp.getResult(0).getType()), conversions ? 32 : 8));
    eachNs += conversions * operationNs / lanes;
    eachNs += vector ? operations * operationNs / lanes : isMath ? scalarMathNs : operations * operationNs;
  }
  return std::max(points * eachNs, bytes * (bytes > double(secondCacheBytes()) ? byteNs : cachedByteNs));
}

bool hasStaticSizes(const IterationSpace &space) {
  return llvm::all_of(space.dims, [](const LoopDim &dim) { return dim.size.isStatic(); });
}

SymbolicSize picosecondsOfStep(const Nest &nest, unsigned dim, int64_t registerBits) {
  double points = 1;
  SymbolicSize others(1);
  for (auto [d, other] : llvm::enumerate(nest.space.dims)) {
    points *= double(std::max<int64_t>(other.size.expected(), 1));
    if (d != dim)
      others = others * other.size;
  }
  return SymbolicSize(std::max<int64_t>(1, std::llround(estimateNs(nest, registerBits) / points * 1000))) * others;
}

Value iterationsOfPiece(OpBuilder &b, IndexBuilder &indices, Location loc, Value trips,
                        const SymbolicSize &picoseconds) {
  Value each = indices.get(b, loc, picoseconds), all = indices.mul(b, loc, trips, each);
  Value piece = indices.ceilDiv(b, loc, indices.index(b, int64_t(kPieceNs * 1000)), each);
  piece = indices.ifLess(b, loc, all, indices.index(b, int64_t(kSharedNs * 1000)), trips, piece);
  return indices.maximum(b, loc, piece, indices.index(b, 1));
}

void markSized(scf::ForOp loop, const SymbolicSize &trips, int64_t picoseconds) {
  if ((trips * SymbolicSize(picoseconds)).isAtMost(int64_t(kOfferedNs * 1000)))
    return;
  int64_t grain = std::max<int64_t>(1, llvm::divideCeil(int64_t(kGrainNs * 1000), picoseconds));
  if (!trips.isAtMost(2 * grain - 1))
    loop->setAttr(kParallelAttr, IntegerAttr::get(IntegerType::get(loop.getContext(), 64), grain));
}

/// Minimum contiguous bytes of columns when a reduction across them is divided: shorter runs of memory are slower.
static constexpr int64_t bytesOfBlock = 8192;
/// The minimum number of blocks for which a rest, a separate nest, is worth its code.
static constexpr int64_t leastUneven = 4;

/// Whether the vectors lie along the only parallel dimension, whose columns may be divided.
static bool hasColumnsOnly(const Nest &nest) {
  const IterationSpace &space = nest.space;
  if (!nest.schedule.vectorDim || space.dims.empty())
    return false;
  unsigned vector = *nest.schedule.vectorDim;
  bool hasRows = llvm::any_of(llvm::enumerate(space.dims),
                              [&](auto dim) { return !dim.value().reduced && dim.index() != vector; });
  return !space.dims[vector].reduced && !hasRows && !space.dims[vector].indexSource;
}

/// The minimum columns of a block, by bytes that stay together. Columns of transposed rows are rows of memory, which
/// are adjacent.
static int64_t leastColumns(const Nest &nest) {
  int64_t width = 8;
  for (const Access &access : nest.space.accesses)
    if (access.moves(*nest.schedule.vectorDim)) {
      int64_t stride = access.isOutput ? 1 : access.strides[*nest.schedule.vectorDim].expected();
      width = std::max(width, bitsOf(access.element) * std::min(std::abs(stride), bytesOfBlock));
    }
  return std::max<int64_t>(bytesOfBlock * 8 / width, nest.schedule.lanes);
}

void cutColumns(OpBuilder &b, IndexBuilder &indices, Nest &nest) {
  if (!hasColumnsOnly(nest))
    return;
  unsigned vector = *nest.schedule.vectorDim;
  const SymbolicSize &columns = nest.space.dims[vector].size;
  int64_t block = llvm::alignTo(leastColumns(nest), nest.schedule.lanes);
  if (columns.isAtMost(2 * block - 1))
    return;
  nest.space.cutIntoBlocks(b, nest.op->getLoc(), indices, vector, block);
  nest.schedule.shiftDims();
}

std::optional<Nest> cutColumns(Nest &nest, double costNs, double leastNs) {
  IterationSpace &space = nest.space;
  LoopSchedule &schedule = nest.schedule;
  if (!hasColumnsOnly(nest))
    return std::nullopt;
  unsigned vector = *schedule.vectorDim;
  LoopDim &columns = space.dims[vector];
  int64_t size = columns.size.factor;
  int64_t least = std::max<int64_t>(leastColumns(nest), int64_t(double(size) * leastNs / costNs));
  int64_t block = blockOf(size, least, schedule.lanes);
  std::optional<Nest> rest;
  if (block == 0) {
    block = llvm::alignTo(least, schedule.lanes);
    if (size < leastUneven * block)
      return std::nullopt;
    int64_t whole = size / block * block;
    rest = nest;
    rest->space.dims[vector].size = size - whole;
    for (Access &access : rest->space.accesses)
      if (access.moves(vector) && access.start.isStatic() && access.strides[vector].isStatic())
        access.start = SymbolicSize(access.start.factor + whole * access.strides[vector].factor);
      else if (access.moves(vector))
        return std::nullopt;
    size = whole;
  }
  columns.size = block;
  space.dims.insert(space.dims.begin(), LoopDim{SymbolicSize(size / block), false, std::nullopt, {}});
  for (Access &access : space.accesses)
    if (!access.scalar) {
      SymbolicSize stride = access.strides[vector] * SymbolicSize(block);
      access.strides.insert(access.strides.begin(), stride);
    }
  schedule.shiftDims();
  return rest;
}

/// Minimum elements of a reduction that is divided into blocks, minimum elements of a block, and maximum number and
/// bytes of the blocks' results.
static constexpr int64_t cutElements = 1 << 18, elementsOfBlock = 1 << 15, maxBlocks = 128, bytesOfResults = 1 << 15;

std::optional<Blocks> cutReduction(OpBuilder &b, IndexBuilder &indices, Nest &nest) {
  IterationSpace &space = nest.space;
  LoopSchedule &schedule = nest.schedule;
  if (!schedule.vectorDim || schedule.jamDim || matchArgReduction(nest.op))
    return std::nullopt;
  // If there are columns, they are the vector dimension, and the first one.
  unsigned first = !space.dims.empty() && !space.dims[0].reduced && *schedule.vectorDim == 0 ? 1 : 0;
  SymbolicSize points(1), perElement(1);
  for (auto [d, dim] : llvm::enumerate(space.dims)) {
    if (dim.reduced == (d < first) || (d < first && !dim.size.isStatic()))
      return std::nullopt;
    points = points * dim.size;
    if (d != first)
      perElement = perElement * dim.size;
  }
  if (points.isAtMost(cutElements - 1) || first == space.dims.size() || space.dims[first].indexSource ||
      (schedule.tileDim && !space.dims[*schedule.tileDim].reduced))
    return std::nullopt;
  int64_t bytes = 0;
  for (auto [number, access] : llvm::enumerate(space.outputs())) {
    bool isPartial = llvm::any_of(llvm::seq<unsigned>(first, space.dims.size()),
                                  [&access = access](unsigned d) { return access.moves(d); });
    if (access.scalar || isPartial || !matchCombiner(nest.op, number))
      return std::nullopt;
    bytes += bytesOf(access.element) * (first == 1 && access.moves(0) ? space.dims[0].size.factor : 1);
  }
  int64_t most = std::min(maxBlocks, bytesOfResults / bytes);
  if (most < 2)
    return std::nullopt;
  const SymbolicSize size = space.dims[first].size;
  int64_t unit = *schedule.vectorDim == first ? schedule.lanes : 1;
  Location loc = nest.op->getLoc();
  SymbolicSize block;
  if (points.isStatic()) {
    int64_t leastElements = std::max<int64_t>(elementsOfBlock, llvm::divideCeil(points.factor, most));
    block = blockOf(size.factor, llvm::divideCeil(leastElements, perElement.factor), unit);
    if (block.isZero())
      return std::nullopt;
    most = size.factor / block.factor;
  } else {
    // Blocks of equal lengths, except for the last one; one block if there are few elements.
    Value all = indices.get(b, loc, points), whole = indices.get(b, loc, size);
    Value elements = indices.maximum(b, loc, indices.index(b, elementsOfBlock),
                                     indices.ceilDiv(b, loc, all, indices.index(b, most)));
    Value length = indices.ceilDiv(b, loc, elements, indices.get(b, loc, perElement));
    length = indices.mul(b, loc, indices.ceilDiv(b, loc, length, indices.index(b, unit)), indices.index(b, unit));
    block = SymbolicSize(1, indices.ifLess(b, loc, all, indices.index(b, cutElements), whole, length));
  }
  space.cutIntoBlocks(b, loc, indices, first, block);
  schedule.shiftDims();
  return Blocks{space.dims[0].size, most};
}

} // namespace mlir::array::loops

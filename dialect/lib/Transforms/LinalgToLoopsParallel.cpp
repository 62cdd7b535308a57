// What a nest costs, and which of its loops threads can share (Parallel.h).
#include "LinalgToLoopsNest.h"
#include "Parallel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::array::loops {

/// Nanoseconds: an operation on one register or scalar, how many of those a function of the math dialect and a division
/// are, and a byte between memory and the core.
static constexpr double operationNs = 0.15, mathOperations = 25, divisions = 5, scalarMathNs = 10, byteNs = 0.04;
/// An element that is loaded or stored alone.
static constexpr double elementNs = 0.4;

static int64_t bitsOf(Type type) { return type.isIntOrFloat() ? std::max(8u, type.getIntOrFloatBitWidth()) : 64; }

double estimateNs(const Nest &nest, int64_t registerBits) {
  const IterationSpace &space = nest.space;
  linalg::LinalgOp op = nest.op;
  double points = 1;
  for (const LoopDim &dim : space.dims) {
    if (!dim.size.isStatic())
      return 0;
    points *= double(dim.size.factor);
  }
  std::optional<unsigned> vector = nest.strategy.vectorDim;
  double eachNs = 0, memoryNs = 0;
  for (const Access &access : space.accesses) {
    if (access.scalar)
      continue;
    double elements = 1;
    for (auto [d, dim] : llvm::enumerate(space.dims))
      if (access.moves(d))
        elements *= double(dim.size.factor);
    memoryNs += elements * double(bitsOf(access.element)) / 8 * byteNs;
    bool isAlone = !vector || (access.moves(*vector) && !access.strides[*vector].isStatic(1));
    eachNs += isAlone ? elementNs : 0;
  }
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    bool isMath = isa<math::MathDialect>(bodyOp.getDialect());
    double operations = isMath                                                       ? mathOperations
                        : isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(bodyOp) ? divisions
                                                                                     : 1;
    double lanes = 1;
    if (vector && bodyOp.getNumResults() > 0)
      lanes = double(registerBits) / double(bitsOf(bodyOp.getResult(0).getType()));
    eachNs += vector ? operations * operationNs / lanes : isMath ? scalarMathNs : operations * operationNs;
  }
  return std::max(points * eachNs, memoryNs);
}

/// Bytes of columns that stay together when a reduction across them is cut: shorter runs of memory are read slower.
static constexpr int64_t bytesOfBlock = 8192;
/// From so many blocks on a rest, which is a nest of its own, is worth its code.
static constexpr int64_t leastUneven = 4;

std::optional<Nest> cutColumns(Nest &nest, double costNs, double leastNs) {
  IterationSpace &space = nest.space;
  Strategy &strategy = nest.strategy;
  if (!strategy.vectorDim || space.dims.empty())
    return std::nullopt;
  unsigned vector = *strategy.vectorDim;
  LoopDim &columns = space.dims[vector];
  bool hasRows = llvm::any_of(llvm::enumerate(space.dims),
                              [&](auto dim) { return !dim.value().reduced && dim.index() != vector; });
  if (columns.reduced || hasRows || columns.indexSource || !columns.size.isStatic())
    return std::nullopt;
  int64_t size = columns.size.factor;
  int64_t width = 8;
  for (const Access &access : space.accesses)
    if (access.moves(vector))
      width = std::max(width, bitsOf(access.element));
  int64_t least =
      std::max<int64_t>({bytesOfBlock * 8 / width, strategy.lanes, int64_t(double(size) * leastNs / costNs)});
  int64_t block = blockOf(size, least, strategy.lanes);
  std::optional<Nest> rest;
  if (block == 0) {
    block = llvm::alignTo(least, strategy.lanes);
    if (size < leastUneven * block)
      return std::nullopt;
    int64_t whole = size / block * block;
    rest = nest;
    rest->space.dims[vector].size = size - whole;
    for (Access &access : rest->space.accesses)
      if (access.moves(vector) && access.start.isStatic() && access.strides[vector].isStatic())
        access.start = Extent(access.start.factor + whole * access.strides[vector].factor);
      else if (access.moves(vector))
        return std::nullopt;
    size = whole;
  }
  columns.size = block;
  space.dims.insert(space.dims.begin(), LoopDim{Extent(size / block), false, std::nullopt});
  for (Access &access : space.accesses)
    if (!access.scalar) {
      Extent stride = access.strides[vector] * Extent(block);
      access.strides.insert(access.strides.begin(), stride);
    }
  strategy.shiftDims();
  return rest;
}

/// A reduction is cut from this many elements on, into blocks of this many at least, and this many blocks at most,
/// whose results take this many bytes at most.
static constexpr int64_t cutElements = 1 << 18, elementsOfBlock = 1 << 15, maxBlocks = 128, bytesOfResults = 1 << 15;

int64_t cutReduction(Nest &nest) {
  IterationSpace &space = nest.space;
  Strategy &strategy = nest.strategy;
  if (!strategy.vectorDim || strategy.jamDim || matchArgReduction(nest.op))
    return 0;
  // Columns, if there are any, are those of the vectors, and the first dimension.
  unsigned first = !space.dims.empty() && !space.dims[0].reduced && *strategy.vectorDim == 0 ? 1 : 0;
  int64_t points = 1;
  for (auto [d, dim] : llvm::enumerate(space.dims)) {
    if (dim.reduced == (d < first) || !dim.size.isStatic())
      return 0;
    points *= dim.size.factor;
  }
  if (points < cutElements || first == space.dims.size() || space.dims[first].indexSource ||
      (strategy.tileDim && !space.dims[*strategy.tileDim].reduced))
    return 0;
  int64_t bytes = 0;
  for (auto [number, access] : llvm::enumerate(space.outputs())) {
    bool isPartial =
        llvm::any_of(llvm::seq<unsigned>(first, space.dims.size()), [&](unsigned d) { return access.moves(d); });
    if (access.scalar || isPartial || !matchCombiner(nest.op, number))
      return 0;
    bytes += space.bytesTouched(access, 1);
  }
  int64_t size = space.dims[first].size.factor, perElement = points / size;
  int64_t most = std::min(maxBlocks, bytesOfResults / bytes);
  if (most < 2)
    return 0;
  int64_t leastElements = std::max<int64_t>(elementsOfBlock, llvm::divideCeil(points, most));
  int64_t block =
      blockOf(size, llvm::divideCeil(leastElements, perElement), *strategy.vectorDim == first ? strategy.lanes : 1);
  if (block == 0)
    return 0;
  space.dims[first].size = block;
  space.dims.insert(space.dims.begin(), LoopDim{Extent(size / block), false, std::nullopt});
  for (Access &access : space.accesses)
    if (!access.scalar) {
      Extent stride = access.strides[first] * Extent(block);
      access.strides.insert(access.strides.begin(), stride);
    }
  strategy.shiftDims();
  return size / block;
}

} // namespace mlir::array::loops

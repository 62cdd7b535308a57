// Chooses the dimension that vectors lie along and their length (LinalgToLoopsNest.h).
#include "LinalgToLoopsNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array::loops {

/// What one element costs that is loaded or stored alone; a whole vector at unit stride costs the same.
static constexpr double elementCost = 1.0;
static constexpr double uniformCost = 0.2;
/// Joining the lanes of an accumulator after the loop, for each halving.
static constexpr double horizontalCost = 2.0;
/// Assumed for dimensions that are known at run time only.
static constexpr int64_t assumedSize = 1024;

static int64_t widthOf(Type type) {
  if (type.isIndex())
    return 64;
  return type.isInteger(1) ? 0 : std::max<int64_t>(8, type.getIntOrFloatBitWidth());
}

static bool variesWith(Value bodyValue, const IterationSpace &space, unsigned dim, Block *body) {
  if (auto argument = dyn_cast<BlockArgument>(bodyValue))
    return argument.getOwner() == body && space.accesses[argument.getArgNumber()].moves(dim);
  Operation *op = bodyValue.getDefiningOp();
  if (op->getBlock() != body)
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return space.dims[dim].indexSource == index.getDim();
  return llvm::any_of(op->getOperands(), [&](Value operand) { return variesWith(operand, space, dim, body); });
}

/// As many lanes as fill some registers with the widest values that vary along `dim`: two for a plain elementwise body,
/// four where latencies have to be hidden (reductions, polynomials). Index arithmetic mostly ends in an address and
/// does not count.
static int64_t lanesFor(linalg::LinalgOp op, const IterationSpace &space, unsigned dim, int64_t registerBits) {
  const Extent &size = space.dims[dim].size;
  int64_t width = 8;
  bool isHeavy = space.hasReduction();
  for (const Access &access : space.accesses)
    width = std::max(width, widthOf(access.element));
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    if (bodyOp.getNumResults() == 0 || !variesWith(bodyOp.getResult(0), space, dim, op.getBlock()))
      continue;
    isHeavy |= isa<math::MathDialect>(bodyOp.getDialect());
    for (Type type : bodyOp.getResultTypes())
      width = std::max(width, type.isIndex() ? 0 : widthOf(type));
  }
  int64_t lanes = (isHeavy ? 4 : 2) * registerBits / width;
  return size.isStatic() ? std::min<int64_t>(lanes, llvm::PowerOf2Ceil(size.factor)) : lanes;
}

/// Whether a step may take several elements of `dim`: their accumulators must be joinable.
static bool isEligible(linalg::LinalgOp op, const IterationSpace &space, unsigned dim) {
  if (!space.dims[dim].reduced)
    return true;
  // The first of equal elements is the one with the least index, if that is the only way in which elements follow each
  // other.
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

static double costOf(linalg::LinalgOp op, const IterationSpace &space, unsigned dim, int64_t lanes) {
  const LoopDim &loop = space.dims[dim];
  int64_t size = loop.size.isStatic() ? loop.size.factor : assumedSize;
  // Elements for each step, counting that the last step may be part empty.
  double filled = double(size) / llvm::divideCeil(size, lanes);
  double cost = 0;
  for (const Access &access : space.accesses) {
    if (!access.moves(dim))
      cost += uniformCost / filled;
    else if (access.strides[dim].isStatic(1) || (access.strides[dim].isStatic(-1) && !access.isOutput))
      cost += elementCost / filled;
    else
      cost += elementCost;
  }
  for (Operation &bodyOp : op.getBlock()->without_terminator()) {
    cost += elementCost / filled;
    auto load = dyn_cast<memref::LoadOp>(bodyOp);
    if (!load || load.getIndices().empty())
      continue;
    bool leadingVary = llvm::any_of(load.getIndices().drop_back(),
                                    [&](Value index) { return variesWith(index, space, dim, op.getBlock()); });
    if (leadingVary || (variesWith(load.getIndices().back(), space, dim, op.getBlock()) &&
                        !load.getIndices().back().getDefiningOp<linalg::IndexOp>()))
      cost += elementCost;
  }
  if (loop.reduced)
    cost += horizontalCost * llvm::Log2_64_Ceil(lanes) / size;
  return cost;
}

Strategy chooseStrategy(linalg::LinalgOp op, const IterationSpace &space, int64_t registerBits) {
  Strategy best;
  bool hasBits = llvm::any_of(space.accesses, [](const Access &access) {
    return !access.scalar && access.element.isInteger(1); // vectors of i1 are packed in memory, scalars are not
  });
  if (hasBits || !canVectorize(*op.getBlock()))
    return best;
  double bestCost = 0;
  for (unsigned dim = 0; dim < space.dims.size(); ++dim) {
    if (!isEligible(op, space, dim))
      continue;
    int64_t lanes = lanesFor(op, space, dim, registerBits);
    double cost = costOf(op, space, dim, lanes);
    if (best.vectorDim && cost > bestCost)
      continue;
    best.vectorDim = dim;
    best.lanes = lanes;
    bestCost = cost;
  }
  return best;
}

} // namespace mlir::array::loops

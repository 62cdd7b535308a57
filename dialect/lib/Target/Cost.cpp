// The estimate of a call's work, from linalg on tensors, where every loop's extent is visible. The runtime compares it
// with a threshold, so only the order of magnitude matters.
#include "array/Analysis/ScatterForm.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Target/Compile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

// A transcendental function is about this many multiplications of a polynomial.
static constexpr double kMathCost = 10;
// The assumed trip count of a loop without constant bounds.
static constexpr double kUnknownTrips = 16;

static double elements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return 1;
  double count = 1;
  for (int64_t dim : shaped.getShape())
    count *= ShapedType::isDynamic(dim) ? kUnknownTrips : dim;
  return count;
}

/// The trip count of a loop, or the expected one if it is symbolic; none if it depends on data.
static std::optional<double> tripsOf(scf::ForOp loop) {
  auto low = expectedSize(loop.getLowerBound()), high = expectedSize(loop.getUpperBound()),
       step = expectedSize(loop.getStep());
  if (!low || !high || !step || *step <= 0)
    return std::nullopt;
  return std::max<double>(0, double(*high - *low) / *step);
}

/// Whether a loop is a condition: it runs once or not at all.
static bool isCondition(scf::ForOp loop) {
  auto once = loop.getUpperBound().getDefiningOp<arith::IndexCastUIOp>();
  return once && once.getIn().getType().isInteger(1);
}

static double costOf(Operation &op);

static double costOf(Region &region) {
  double cost = 0;
  for (Block &block : region)
    for (Operation &op : block)
      cost += costOf(op);
  return cost;
}

static double costOf(Operation &op) {
  if (op.hasAttr(kScatterAttr)) // each update meets one element
    return elements(cast<linalg::LinalgOp>(op).getDpsInputs()[1].getType()) * costOf(op.getRegion(0));
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    double trips = 1;
    for (int64_t extent : generic.getStaticLoopRanges())
      trips *= ShapedType::isDynamic(extent) ? kUnknownTrips : extent;
    // Moving an element is work too.
    return trips * std::max(1.0, costOf(op.getRegion(0)));
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return (isCondition(loop) ? 1 : tripsOf(loop).value_or(kUnknownTrips)) * costOf(loop.getRegion());
  }
  if (isa<scf::WhileOp>(op))
    return kUnknownTrips * (costOf(op.getRegion(0)) + costOf(op.getRegion(1)));
  if (isa<scf::IfOp>(op))
    return std::max(costOf(op.getRegion(0)), costOf(op.getRegion(1)));
  if (op.getNumRegions() != 0) {
    double cost = 0;
    for (Region &region : op.getRegions())
      cost += costOf(region);
    return cost;
  }
  if (op.hasTrait<OpTrait::ConstantLike>() || op.hasTrait<OpTrait::IsTerminator>() || isa<tensor::EmptyOp>(op))
    return 0;
  double each = isa<math::MathDialect>(op.getDialect()) ? kMathCost : 1;
  double moved = 1;
  for (Type type : op.getResultTypes())
    moved = std::max(moved, elements(type));
  return each * moved;
}

UnboundedLoops findUnboundedLoops(ModuleOp module) {
  UnboundedLoops found;
  module.walk([&](scf::WhileOp) { found.whileLoops = true; });
  module.walk([&](scf::ForOp loop) { found.forLoops |= !isCondition(loop) && !tripsOf(loop); });
  return found;
}

double estimateFlops(ModuleOp module) { return costOf(module.getBodyRegion()); }

} // namespace mlir::array

// Chooses the tile and the limits of a convolution, and lists plans near the choice (ConvolutionChoices.h).
#include "ConvolutionChoices.h"
#include "Cpu/Matmul/MatmulPlanTable.h"
#include "array/IR/Plan.h"

namespace mlir::array {

/// Whether loops have vectors of positions, or of terms, both of which are dense: of the operand alone, or of the
/// kernel, too.
static bool hasDenseLoops(const Convolution &convolution, int64_t lanes) {
  const ConvolutionLoop &channels = convolution.channels;
  if (channels.size == 1)
    return convolution.dims.back().lhs == 1 && convolution.dims.back().positions >= lanes;
  return convolution.sumsChannels && channels.rhs == 1 && channels.size >= lanes;
}

// Fewer rows, columns or terms are a sum or an update of vectors. Tiles of few columns load an element of the operand
// for each vector of so few lanes.
bool isWorthTiling(const Convolution &convolution, Type element, unsigned vectorBits) {
  int64_t rows = convolution.positions(), terms = convolution.taps(), columns = convolution.columns.size;
  (convolution.sumsChannels ? terms : rows) *= convolution.channels.size;
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  int64_t leastColumns = hasDenseLoops(convolution, lanes) ? std::max<int64_t>(4, lanes / 3 + 1) : 4;
  return rows >= 4 && columns >= leastColumns && terms >= 4 && rows * columns * terms >= 16 * 16 * 16;
}

MatmulTile chooseConvolutionTile(linalg::LinalgOp op, Type element, unsigned vectorBits,
                                 const Convolution &convolution) {
  MatmulTile tile = chooseMatmulTile(element, vectorBits, convolution.columns.size);
  tile.rows = planned(op, "tile_rows", vectorBits >= 512 ? 8 : vectorBits >= 256 ? 6 : 4);
  tile.vectors = planned(op, "tile_vectors", tile.vectors);
  return tile;
}

ConvolutionLimits chooseConvolutionLimits(linalg::LinalgOp op, const MatmulTile &tile) {
  ConvolutionLimits limits;
  limits.slabBytes = planned(op, "slab", limits.slabBytes);
  limits.terms = planned(op, "depth", limits.terms);
  limits.rows = planned(op, "rows", limits.rows);
  limits.columns = llvm::alignTo(planned(op, "columns", limits.columns), tile.columns());
  return limits;
}

std::vector<MatmulPlan> convolutionPlans(linalg::LinalgOp op, unsigned vectorBits) {
  FailureOr<Convolution> convolution = analyzeConvolution(op);
  Type element = getElementTypeOrSelf(op.getDpsInits().front().getType());
  if (failed(convolution) || !isWorthTiling(*convolution, element, vectorBits))
    return {};
  MatmulTile tile = chooseConvolutionTile(op, element, vectorBits, *convolution);
  std::vector<MatmulPlan> plans =
      tilePlans(tile, convolution->positions(), convolution->columns.size, vectorBits >= 512 ? 32 : 16);
  ConvolutionLimits limits;
  for (int64_t bytes : {limits.slabBytes / 4, limits.slabBytes / 2, limits.slabBytes * 2, limits.slabBytes * 4})
    plans.push_back({{"slab", bytes}});
  for (int64_t rows : {limits.rows / 4, limits.rows / 2, limits.rows * 2})
    plans.push_back({{"rows", rows}});
  for (int64_t terms : {limits.terms / 2, limits.terms * 2})
    plans.push_back({{"depth", terms}});
  return plans;
}

} // namespace mlir::array

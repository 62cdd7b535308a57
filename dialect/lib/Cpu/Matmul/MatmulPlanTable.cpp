// Lists the plans worth measuring for a matmul (MatmulPlanTable.h). Tuning may join the winners of several directions:
// keys do not repeat within one.
#include "MatmulPlanTable.h"

namespace mlir::array {

namespace {

/// Loops without blocks are worth measuring if an operand is thin, or if all of it is in the caches.
constexpr int64_t thin = 16, cachedTerms = 1 << 21, mostTerms = int64_t(1) << 28;

/// A block of rows or of depth that is not cut further.
constexpr int64_t leastRows = 16, leastDepth = 128, mostDepth = 4096, leastColumns = 64, mostColumns = 1 << 14;

} // namespace

std::vector<MatmulPlan> tilePlans(const MatmulTile &chosen, int64_t rows, int64_t columns, int64_t registers) {
  constexpr std::pair<int64_t, int64_t> shapes[] = {{12, 2}, {8, 3}, {6, 4},  {4, 4}, {8, 2}, {6, 2}, {4, 3},
                                                    {4, 2},  {3, 4}, {14, 1}, {8, 1}, {6, 1}, {4, 1}};
  std::vector<MatmulPlan> plans;
  for (auto [height, vectors] : shapes) {
    bool isChosen = height == chosen.rows && vectors == chosen.vectors;
    // The accumulators, the row of a panel, and one factor.
    bool fits = height * vectors + vectors + 1 <= registers;
    // Small tiles wait for earlier sums, unless the matmul is that small.
    bool isSmall = height * vectors < registers / 4 && height < rows;
    if (!isChosen && fits && !isSmall && (vectors - 1) * chosen.lanes < columns && height < rows + 4)
      plans.push_back({{"tile_rows", height}, {"tile_vectors", vectors}});
  }
  return plans;
}

std::vector<MatmulPlan> matmulPlanTable(const MatmulFreedom &freedom) {
  std::vector<MatmulPlan> plans;
  auto [m, n, k, tile, blocks] = std::tie(freedom.m, freedom.n, freedom.k, freedom.tile, freedom.blocks);
  double terms = double(m) * double(n) * double(k);
  bool hasBlocks = m >= 4 && n >= 4 && k >= 2;
  bool mayLoop = !freedom.isLooped && terms <= double(std::min({m, n, k}) <= thin ? mostTerms : cachedTerms);
  if (!freedom.isTiled && !freedom.isDot2 && hasBlocks) {
    plans.push_back({{"strategy", "tiles"}});
    for (MatmulPlan &plan : tilePlans(tile, m, n, freedom.registers)) {
      plan.push_back({"strategy", "tiles"});
      plans.push_back(std::move(plan));
    }
  }
  if (freedom.canStream)
    plans.push_back({{"strategy", "stream"}});
  if (mayLoop)
    plans.push_back({{"strategy", "loops"}});
  if (!freedom.isTiled)
    return plans;
  for (StringRef packing : freedom.packings)
    plans.push_back({{"packing", packing.str()}});
  if (!freedom.isDot2)
    llvm::append_range(plans, tilePlans(tile, m, n, freedom.registers));
  for (int64_t rows : {blocks.rows / 4, blocks.rows / 2, blocks.rows * 2, blocks.rows * 4})
    if (rows >= leastRows && std::min(rows, m) != std::min(blocks.rows, m))
      plans.push_back({{"rows", rows}});
  for (int64_t depth : {blocks.depth / 2, blocks.depth * 2, blocks.depth * 4})
    if (depth >= leastDepth && depth <= mostDepth && std::min(depth, k) != std::min(blocks.depth, k))
      plans.push_back({{"depth", depth}});
  for (int64_t columns : {blocks.columns / 4, blocks.columns / 2, blocks.columns * 2})
    if (columns >= leastColumns && columns <= mostColumns && std::min(columns, n) != std::min(blocks.columns, n))
      plans.push_back({{"columns", columns}});
  return plans;
}

} // namespace mlir::array

// Chooses the blocks of a matmul (Matmul.h) from its expected sizes and the caches of this machine.
#include "Analysis/Caches.h"
#include "Analysis/ParallelLoops.h"
#include "Matmul.h"

#include <numeric>

namespace mlir::array {

namespace {

/// Blocks of at most kMatmulDepth terms. `rows` of the left operand take a quarter of the second cache, and stay there
/// while the panels of `columns` of the right operand pass. The panels take at most twice that cache, and at most 2
/// MiB, because packed blocks are extra memory of a program.
struct CacheBlocks {
  int64_t rows, columns;
};

CacheBlocks cacheBlocks(Type element) {
  int64_t terms = secondCacheBytes() / (kMatmulDepth * element.getIntOrFloatBitWidth() / 8);
  auto size = [](int64_t count, int64_t least, int64_t most) {
    return std::clamp<int64_t>(llvm::bit_floor(uint64_t(count)), least, most);
  };
  constexpr int64_t mostPacked = 2 << 20;
  int64_t mostColumns = mostPacked / (kMatmulDepth * element.getIntOrFloatBitWidth() / 8);
  return {size(terms / 4, 32, 256), size(terms * 2, 512, mostColumns)};
}

/// If threads share the rows, there are more blocks of fewer rows, but not so few rows that panels are reloaded too
/// often.
constexpr int64_t leastRowBlock = 32, rowBlocks = 16;

/// A matmul of at most this depth is bound by stores.
constexpr int64_t shallowDepth = 16;

/// Each tile costs its rows, plus one row for its loads and stores.
int64_t costOfTiles(int64_t height, int64_t rows) { return llvm::divideCeil(rows, height) * (height + 1); }

/// The height of the tile with the least cost.
int64_t bestTileRows(const MatmulTile &tile, int64_t rows) {
  int64_t best = tile.rows;
  for (int64_t height = tile.rows - 1; height >= leastTileRows(tile); --height)
    if (costOfTiles(height, rows) < costOfTiles(best, rows))
      best = height;
  return best;
}

/// Rows of a block, in whole tiles: with tiles of 6 rows, a block of 32 takes as long as one of 36.
int64_t rowStepOf(const MatmulTile &tile, const CacheBlocks &cached, int64_t m, int64_t n, int64_t k,
                  int64_t rowBytes) {
  int64_t most = llvm::alignTo(cached.rows, tile.rows);
  // Storing c dominates: limit the rows at a time to those that share sets of the first cache without conflicts. The
  // rows are adjacent, so the panels stay in the caches.
  if (k <= shallowDepth && n > tile.columns()) {
    int64_t places = kPageBytes / std::gcd(rowBytes, kPageBytes);
    return std::min(tile.rows * places, most);
  }
  // Threads share the panels of a block if there are enough of them, so rows that stay in the cache need no division:
  // every further block would read all panels again, and they would have to be packed before the first one.
  int64_t panels = llvm::divideCeil(std::min(n, cached.columns), tile.columns()), whole = llvm::alignTo(m, tile.rows);
  if (panels >= rowBlocks && whole <= most + most / 2)
    return std::max(whole, most);
  double blockNs = estimateMatmulNs(tile, m, std::min(n, cached.columns), evenDepthBlock(k, kMatmulDepth));
  if (blockNs < kSharedNs || m < 4 * leastRowBlock)
    return most;
  int64_t rows = std::max<int64_t>(llvm::divideCeil(m, rowBlocks), leastRowBlock);
  return std::min<int64_t>(llvm::alignTo(rows, tile.rows), most);
}

} // namespace

int64_t evenDepthBlock(int64_t k, int64_t most) {
  return llvm::divideCeil(k, std::max<int64_t>(llvm::divideCeil(k, most), 1));
}

int64_t mostDepthBlock(const BoundedSize &k, int64_t most) {
  return k.isStatic() ? evenDepthBlock(k.factor(), most) : std::min(k.most(), most);
}

int64_t leastDepthBlock(const BoundedSize &k, int64_t most) {
  if (k.isAtMost(most))
    return k.least();
  if (!k.isStatic())
    return 0;
  int64_t block = evenDepthBlock(k.factor(), most), last = k.factor() % block;
  return last == 0 ? block : last;
}

bool sharesRows(const BoundedSize &m, int64_t rowStep) { return m.expected() >= 2 * rowStep; }

SmallVector<int64_t> goodTileRows(const MatmulTile &tile, const BoundedSize &rows) {
  constexpr int64_t many = 128;
  SmallVector<int64_t> heights{tile.rows};
  for (int64_t m = 1; m <= many; ++m)
    if (int64_t best = bestTileRows(tile, m); rows.mayBe(m) && !llvm::is_contained(heights, best))
      heights.push_back(best);
  return heights;
}

int64_t cachedRows(Type element) { return cacheBlocks(element).rows; }

LogicalResult verifyVectorBits(ModuleOp module, StringRef pass, unsigned vectorBits) {
  if (vectorBits == 128 || vectorBits == 256 || vectorBits == 512)
    return success();
  return module.emitError(pass) << ": vector-bits is " << vectorBits << ", not 128, 256 or 512";
}

MatmulTile chooseMatmulTile(Type element, unsigned vectorBits, int64_t columns) {
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  // The maximum rows that leave registers for one broadcast and the row of the panel: 32 registers of 512 bits (8 rows
  // reach the peak already), 16 narrower ones.
  int64_t rows = vectorBits >= 512 ? 8 : vectorBits >= 256 ? 6 : 4;
  while (lanes > 4 && columns <= lanes / 2)
    lanes /= 2;
  return {rows, columns <= lanes ? 1 : 2, lanes};
}

int64_t leastTileRows(const MatmulTile &tile) {
  constexpr int64_t leastSums = 8;
  return std::min(tile.rows, std::max<int64_t>(llvm::divideCeil(leastSums, tile.vectors), tile.rows / 2 + 1));
}

SmallVector<MatmulTile> wideTiles(const MatmulTile &tile, unsigned vectorBits) {
  if (vectorBits < 512 || tile.vectors != 2)
    return {};
  return {{6, 4, tile.lanes}, {8, 3, tile.lanes}};
}

/// Each term of a tile costs its multiply-adds, and half as much for each loaded vector of the panel and each broadcast
/// element of the left operand; loading and storing the result counts as half a row. If another thread shares the core,
/// the loads dominate: there 6x4 took a fifth less time than 8x2, else as much. A tile with missing rows or columns
/// counts half more: 64 batches of 64x64 take 5% less time by 8x2, whose tiles are all whole, on Zen 4.
static double costOfProduct(const MatmulTile &tile, int64_t rows, int64_t columns) {
  double sums = double(tile.rows * tile.vectors), loads = double(tile.rows + tile.vectors);
  auto tiles = [](int64_t size, int64_t side) {
    return double(llvm::divideCeil(size, side)) + (size % side == 0 ? 0 : 0.5);
  };
  return tiles(rows, tile.rows) * tiles(columns, tile.columns()) * (sums + loads / 2 + double(tile.vectors) / 2);
}

MatmulTile fitMatmulTile(const MatmulTile &chosen, unsigned vectorBits, const BoundedSize &rows, int64_t columns,
                         int64_t rowBytes) {
  // Rows of a wide panel that is read in place compete for the same sets of the first cache.
  constexpr int64_t mostBytes = kPageBytes / 8;
  MatmulTile tile = chosen;
  if (rowBytes <= mostBytes || rowBytes >= kPageBytes / 2)
    for (const MatmulTile &wide : wideTiles(chosen, vectorBits))
      if (costOfProduct(wide, rows.expected(), columns) < costOfProduct(tile, rows.expected(), columns))
        tile = wide;
  if (rows.isStatic())
    tile.rows = bestTileRows(tile, rows.factor());
  return tile;
}

MatmulBlocks chooseMatmulBlocks(Type element, const MatmulTile &tile, int64_t m, int64_t n, int64_t k,
                                int64_t rowStride) {
  CacheBlocks cached = cacheBlocks(element);
  int64_t rowBytes = rowStride * element.getIntOrFloatBitWidth() / 8;
  return {rowStepOf(tile, cached, m, n, k, rowBytes), cached.columns, kMatmulDepth};
}

int64_t matmulPackElements(const MatmulTile &tile, MatmulPacking packing, const MatmulBlocks &blocks,
                           const BoundedSize &k, const BoundedSize &n) {
  if (!makesPanels(packing))
    return 0;
  return mostDepthBlock(k, blocks.depth) * llvm::alignTo(std::min(n.most(), blocks.columns), tile.columns());
}

BoundedSize matmulLeftElements(MatmulBuilder &g, const MatmulBlocks &blocks, const BoundedSize &m, const BoundedSize &k,
                               int64_t unit) {
  int64_t rows = blocks.rows;
  BoundedSize depth = mostDepthBlock(k, blocks.depth);
  if (!sharesRows(m, rows))
    return depth * int64_t(llvm::alignTo(std::min(m.most(), rows), unit));
  if (m.isStatic())
    return depth * int64_t(llvm::alignTo(m.factor(), rows));
  return depth * BoundedSize(g.ceilDiv(g.index(m), rows), SizeFacts()) * rows;
}

double estimateMatmulNs(const MatmulTile &tile, int64_t m, int64_t n, int64_t k) {
  // Four multiply-adds of a vector in a nanosecond, including overhead.
  return double(m) * double(n) * double(k) / (4 * double(tile.lanes));
}

int64_t mostStreamedRows(Type element, unsigned vectorBits, int64_t n, int64_t k) {
  // Up to three rows, most of the tiles' work would be discarded. Up to eight, tiles are faster if b is in the second
  // cache.
  constexpr int64_t fewRows = 3, cachedBytes = 1 << 20, leastElements = 4096, leastDepth = 8;
  int64_t bits = element.getIntOrFloatBitWidth(), elements = n * k;
  if (n < vectorBits / bits || k < leastDepth || elements < leastElements)
    return 0;
  return elements * bits / 8 > cachedBytes ? kMostStreamedRows : fewRows;
}

int64_t streamColumns(Type element, int64_t rows) {
  constexpr int64_t sumBytes = 16 << 10, leastColumns = 1024;
  return std::max(sumBytes / (rows * element.getIntOrFloatBitWidth() / 8), leastColumns);
}

int64_t mostStreamColumns(Type element, int64_t rows) {
  int64_t columns = streamColumns(element, rows);
  return columns + columns / 2 + kPageBytes / (element.getIntOrFloatBitWidth() / 8) / 2;
}

int64_t streamBlocks(int64_t n, int64_t columns) { return std::max<int64_t>((n + columns / 2) / columns, 1); }

int64_t streamDepthBlocks(Type element, const BoundedSize &m, const BoundedSize &n, const BoundedSize &k) {
  constexpr int64_t pieces = 16, leastDepth = 64, leastBytes = 512 << 10, mostBytes = 1 << 20;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, columns = n.expected(), depth = k.expected();
  int64_t wanted = llvm::divideCeil(pieces, streamBlocks(columns, streamColumns(element, m.most())));
  int64_t sums = std::max<int64_t>(m.most() * columns, 1) * bytes;
  return std::max<int64_t>(
      std::min({wanted, depth / leastDepth, columns * depth * bytes / leastBytes, mostBytes / sums}), 1);
}

MatmulTile streamingTile(Type element, unsigned vectorBits, int64_t rows) {
  return {rows, 1, vectorBits / element.getIntOrFloatBitWidth()};
}

} // namespace mlir::array

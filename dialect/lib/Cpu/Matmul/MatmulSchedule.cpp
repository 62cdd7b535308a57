// Chooses the method and the blocks of a matmul (MatmulSchedule.h).
#include "MatmulSchedule.h"
#include "MatmulEpilogue.h"
#include "array/Analysis/MatmulWorth.h"
#include "array/IR/Plan.h"

namespace mlir::array {

/// An assumed size if it has no bound.
static constexpr int64_t kManyOfCall = 1 << 10;

/// The maximum number of rows of a streamed matmul.
static int64_t streamedRows(const MatmulForm &product, Type element, unsigned vectorBits) {
  if (product.narrow != MatmulForm::None || !product.n.strides[1].isStatic(1))
    return 0;
  return mostStreamedRows(element, vectorBits, product.n.size.expected(), product.k.size.expected());
}

/// The rule for methods. With fewer than 4 rows, columns or terms, a matmul is a sum or an update of vectors, and
/// memory is the limit: it is streamed if the layout of b allows it, else lowered to loops.
MatmulMethod chooseMethod(const MatmulForm &product, Type element, const Registers &registers) {
  int64_t m = product.m.size.expected(), n = product.n.size.expected(), k = product.k.size.expected();
  // The instruction for bytes needs at least 256 bits. Loops are as fast if making the pairs takes long.
  if (product.narrow == MatmulForm::Bytes)
    return registers.bits >= 256 && isWorthDot2(m, n, k) ? MatmulMethod::Dot2 : MatmulMethod::Loops;
  if (product.narrow == MatmulForm::BFloat16)
    return registers.bits == 512 && registers.bfloat16Dot2 && isWorthBlocking(m, n, k) ? MatmulMethod::Dot2
                                                                                       : MatmulMethod::Loops;
  if (product.m.size.isAtMost(streamedRows(product, element, registers.bits)))
    return MatmulMethod::Stream;
  // A small matmul is fast, even if a call is overhead. So if some size may be large, the matmul is a call.
  bool isWorth = isWorthBlocking(m, n, k) || isWorthBlocking(std::min(product.m.size.most(), kManyOfCall),
                                                             std::min(product.n.size.most(), kManyOfCall),
                                                             std::min(product.k.size.most(), kManyOfCall));
  return isWorth ? MatmulMethod::Tiles : MatmulMethod::Loops;
}

bool canStream(const MatmulForm &product, Type element, unsigned vectorBits) {
  constexpr int64_t mostRows = 16;
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  return product.narrow == MatmulForm::None && product.n.strides[1].isStatic(1) && product.n.size.expected() >= lanes &&
         product.m.size.isStatic() && product.m.size.isAtMost(mostRows);
}

/// With few rows, packing b takes as long as the matmul. With many rows, reading in place costs a few percent.
static constexpr int64_t kFewPacked = 128;

/// The rows that b is packed for.
static int64_t packedRows(const BoundedSize &m) {
  return m.isStatic() ? m.expected() : std::min(m.expected(), std::max(m.least(), kFewPacked));
}

bool canCopyOnce(const MatmulForm &product, const MatmulBlocks &blocks) {
  const BoundedSize &m = product.m.size;
  bool isOneBlock = m.expected() <= blocks.rows || (!m.isStatic() && m.least() < kFewPacked);
  return product.n.strides[1].isStatic(1) && isOneBlock && blocks.depth <= kMatmulDepth;
}

bool canTurnOnce(const MatmulForm &product, const MatmulTile &tile, const MatmulBlocks &blocks) {
  return !product.n.strides[1].isStatic(1) && product.k.strides[1].isStatic(1) &&
         leastDepthBlock(product.k.size, blocks.depth) >= tile.squareSide() && product.m.size.isAtMost(blocks.rows) &&
         blocks.depth <= kMatmulDepth;
}

/// The packing of b. Reading it in place is faster until its rows are a page apart, because they then compete for the
/// same sets of the cache; the limit is half a page if a has many rows, which amortize the packing. If a has few rows,
/// one block of them needs each panel, so that block copies it.
static MatmulPacking choosePacking(const MatmulForm &product, const MatmulTile &tile, const MatmulBlocks &blocks,
                                   Type element) {
  constexpr int64_t manyRows = 256;
  const Dimension &m = product.m, &n = product.n, &k = product.k;
  int64_t rowBytes = k.strides[1].expected() * element.getIntOrFloatBitWidth() / 8, rows = packedRows(m.size);
  if (n.strides[1].isStatic(1)) {
    bool inPlace = n.size.isMultipleOf(tile.columns()) &&
                   (rowBytes < kPageBytes / 2 || rows <= tile.rows || (rowBytes < kPageBytes && rows < manyRows));
    if (inPlace)
      return MatmulPacking::InPlace;
    return canCopyOnce(product, blocks) ? MatmulPacking::Once : MatmulPacking::Rows;
  }
  if (canTurnOnce(product, tile, blocks))
    return MatmulPacking::Turned;
  bool hasSquares = product.k.strides[1].isStatic(1) && product.k.size.expected() >= tile.squareSide();
  return hasSquares ? MatmulPacking::Columns : MatmulPacking::Strided;
}

/// Whether a is packed: if its columns have unit stride, each term of a tile would be in another cache line, and in
/// another page of a large matrix. Packing is little work relative to many columns.
static bool paysToPackLeft(const MatmulForm &product) {
  constexpr int64_t leastRows = 48, leastDepth = 64, leastColumns = 96;
  const Dimension &m = product.m, &n = product.n, &k = product.k;
  return m.strides[0].isStatic(1) && !k.strides[0].isStatic(1) && m.size.least() >= leastRows &&
         n.size.least() >= leastColumns && k.size.least() >= leastDepth;
}

/// Stores the result in the order of its reader, if the matmul stays as large.
static void storeInOrder(linalg::GenericOp op, const Registers &registers) {
  FailureOr<MatmulForm> product = readMatmul(op);
  if (failed(product) || failed(orient(*product)))
    return;
  Type element = getElementTypeOrSelf(product->c.buffer.getType());
  if (chooseMethod(*product, element, registers) != MatmulMethod::Tiles || planned(op, "strategy", "tiles") != "tiles")
    return;
  storeInOrderOfReader(op, [&] {
    FailureOr<MatmulForm> other = readMatmul(op);
    return succeeded(other) && succeeded(orient(*other)) &&
           chooseMethod(*other, element, registers) == MatmulMethod::Tiles &&
           other->m.size * other->n.size == product->m.size * product->n.size;
  });
}

FailureOr<MatmulForm> readScheduled(linalg::LinalgOp op, const Registers &registers) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    storeInOrder(generic, registers);
  FailureOr<MatmulForm> product = readMatmul(op);
  if (failed(product) || failed(orient(*product)))
    return failure();
  return product;
}

MatmulSchedule chooseSchedule(linalg::LinalgOp op, const MatmulForm &product, Type element,
                              const Registers &registers) {
  unsigned vectorBits = registers.bits;
  int64_t m = product.m.size.expected(), n = product.n.size.expected(), k = product.k.size.expected();
  MatmulMethod method = chooseMethod(product, element, registers);
  StringRef wanted = planned(op, "strategy", StringRef());
  if (wanted == "loops")
    method = MatmulMethod::Loops;
  else if (wanted == "stream" && canStream(product, element, vectorBits))
    method = MatmulMethod::Stream;
  else if (wanted == "tiles" && product.narrow == MatmulForm::None)
    method = MatmulMethod::Tiles;
  // The buffer for the pairs of the left factor needs its size at the start of the function.
  if (method == MatmulMethod::Dot2 && !product.k.size.isStatic() && !isa<func::FuncOp>(op->getParentOp()))
    method = MatmulMethod::Loops;
  if (method == MatmulMethod::Stream)
    return {method, streamingTile(element, vectorBits, m), MatmulPacking::InPlace, MatmulBlocks{}, m};
  // Pairs are multiplied by whole registers.
  int64_t leastColumns = method == MatmulMethod::Dot2 ? vectorBits / element.getIntOrFloatBitWidth() : 1;
  MatmulTile tile = chooseMatmulTile(element, vectorBits, std::max(n, leastColumns));
  if (method == MatmulMethod::Dot2) {
    k = dot2Elements(k);
  } else {
    int64_t rowBytes = product.k.strides[1].expected() * element.getIntOrFloatBitWidth() / 8;
    tile = fitMatmulTile(tile, vectorBits, product.m.size, n, rowBytes);
    tile.rows = planned(op, "tile_rows", tile.rows);
    tile.vectors = planned(op, "tile_vectors", tile.vectors);
  }
  MatmulBlocks blocks = chooseMatmulBlocks(element, tile, m, n, k, product.m.strides[2].expected());
  blocks.rows = planned(op, "rows", blocks.rows);
  blocks.columns = llvm::alignTo(planned(op, "columns", blocks.columns), tile.columns());
  blocks.depth = planned(op, "depth", blocks.depth);
  MatmulPacking packing = MatmulPacking::Rows;
  if (method != MatmulMethod::Dot2) {
    packing = choosePacking(product, tile, blocks, element);
    StringRef packs = planned(op, "packing", StringRef());
    bool isAlongColumns = product.n.strides[1].isStatic(1);
    if (isAlongColumns && packs == "copied")
      packing = MatmulPacking::Rows;
    else if (packs == "once" && canCopyOnce(product, blocks))
      packing = MatmulPacking::Once;
    else if (packs == "copied" && packing == MatmulPacking::Turned)
      packing = MatmulPacking::Columns;
    else if (packs == "once" && canTurnOnce(product, tile, blocks))
      packing = MatmulPacking::Turned;
    else if (isAlongColumns && product.n.size.isMultipleOf(tile.columns()) && packs == "in-place")
      packing = MatmulPacking::InPlace;
  }
  int64_t fewRows = method == MatmulMethod::Tiles ? streamedRows(product, element, vectorBits) : 0;
  bool packsLeft = method == MatmulMethod::Tiles && packing != MatmulPacking::Once &&
                   packing != MatmulPacking::Turned && paysToPackLeft(product);
  return {method, tile, packing, blocks, fewRows, packsLeft};
}

} // namespace mlir::array

// One matrix product at the place of its call: blocks over columns and depth around the functions of MatmulKernels.h.
// array-lower-matmuls decides which products are worth it.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMUL_H
#define ARRAY_LIB_CPU_MATMUL_MATMUL_H

#include "MatmulDot2.h"

#include <functional>
#include <optional>

namespace mlir::array {

/// A matrix in a buffer: element (i, j) is `offset + i * rowStride + j * columnStride` elements from its base.
struct MatmulMatrix {
  Value buffer;
  Value offset;
  BoundedSize rowStride;
  BoundedSize columnStride;
};

/// Factors of which two share an element. The product's element is that of its sums and its depth counts pairs, k is
/// the number of terms.
struct Dot2Operands {
  Dot2Factor left, right;
  BoundedSize k;
};

/// A matrix that the next product reads or writes: `step` elements for each term of each tile are all of it.
struct MatmulAhead {
  Value buffer, offset;
  int64_t step;
};

/// Rows and columns of a block, and the terms that are summed in registers at most.
struct MatmulBlocks {
  int64_t rows, columns, depth;
};

/// c (m x n, unit column stride) = (accumulate ? c : 0) + a (m x k) * b (k x n).
struct MatmulCall {
  Type element;
  MatmulTile tile;
  MatmulPacking packing;
  MatmulBlocks blocks;
  BoundedSize m, n, k;
  MatmulMatrix a, b, c;
  Value packBuffer; ///< 1-D, of matmulPackElements(...) elements from `packOffset` on; null where nothing is packed.
  Value packOffset;
  Value accumulate;
  /// Called for each block of rows and columns (row, rows, column, columns) once its sums are complete.
  std::function<void(Value, Value, Value, Value)> finish = {};
  /// What tiles do to complete sums before they store them: add a matrix like c, and take the maximum with zero. Sums
  /// of an addend start at zero.
  std::optional<MatmulMatrix> addend = {};
  bool rectifies = false;
  std::optional<Dot2Operands> pairing = {};
  /// Where an operand is computed block by block: (row, column, rows, columns, target) stores the elements from (row,
  /// column) on in `target`. The right one goes to the packing buffer, the left one to `leftBuffer`, 1-D, of
  /// matmulLeftElements(...) elements from `leftOffset` on; only the strides of `a` count then. All pairs of the left
  /// factor go to `leftBuffer` as well.
  std::function<void(Value, Value, Value, Value, Value)> produceLeft = {}, produceRight = {};
  Value leftBuffer = {}, leftOffset = {};
  /// Whether blocks of `a`, whose rows lie side by side, are packed to `leftBuffer`, of as many elements, before the
  /// tiles read them. The rows of a block are a multiple of the tile's.
  bool packsLeft = false;
  /// Of a product that is streamed: the blocks of depth, and a 1-D buffer for their sums where there are several.
  int64_t depthBlocks = 1;
  Value depthSums = {};
  /// The next a, b and c, which are fetched meanwhile; or none. For products that are one block of tiles, of known
  /// sizes, whose right operand is read in place.
  SmallVector<MatmulAhead, 3> ahead = {};
};

/// Fails, in the name of `pass`, unless there are tiles for registers of `vectorBits`.
LogicalResult verifyVectorBits(ModuleOp module, StringRef pass, unsigned vectorBits);

/// The tile for `vectorBits` wide registers and results with `columns` columns.
MatmulTile chooseMatmulTile(Type element, unsigned vectorBits, int64_t columns);

/// Tiles with more vectors than `tile`, which broadcast less for as many sums; most products are better off with them.
SmallVector<MatmulTile> wideTiles(const MatmulTile &tile, unsigned vectorBits);

/// The tile, or a wide one, that takes the least time for so many rows and columns, with as many rows as leave the
/// least of the last tile of `rows` empty. Where that depends on the call it is the tallest one, and emitMatmul lets
/// the call choose. Rows of the right operand are `rowBytes` apart.
MatmulTile fitMatmulTile(const MatmulTile &tile, unsigned vectorBits, const BoundedSize &rows, int64_t columns,
                         int64_t rowBytes);

/// The least rows of a tile that keeps the registers as busy: additions to one accumulator wait for each other.
int64_t leastTileRows(const MatmulTile &tile);

/// The rows that fitMatmulTile may choose for a call, of which emitMatmul does: for many rows it means little.
SmallVector<int64_t> goodTileRows(const MatmulTile &tile, const BoundedSize &rows);

/// The blocks for the caches of this machine. The depth is the same on all machines. Rows of the result are `rowStride`
/// elements apart.
MatmulBlocks chooseMatmulBlocks(Type element, const MatmulTile &tile, int64_t m, int64_t n, int64_t k,
                                int64_t rowStride);

/// Rows of the left operand that stay in the cache.
int64_t cachedRows(Type element);

/// Blocks of k, of at most `most` terms, are of about the same size: a short last one would write c for little work.
int64_t evenDepthBlock(int64_t k, int64_t most);

/// The greatest one of all that `k` may be.
int64_t mostDepthBlock(const BoundedSize &k, int64_t most);

/// No more than the least one, which is the last.
int64_t leastDepthBlock(const BoundedSize &k, int64_t most);

/// Whether there are so many rows that threads share blocks of `rowStep`.
bool sharesRows(const BoundedSize &m, int64_t rowStep);

/// Elements that the packed block of a k x n operand takes at most; 0 where it is read in place.
int64_t matmulPackElements(const MatmulTile &tile, MatmulPacking packing, const MatmulBlocks &blocks,
                           const BoundedSize &k, const BoundedSize &n);

/// Elements of the left operand that are computed or packed at a time, at most, in tiles of `unit` rows.
BoundedSize matmulLeftElements(MatmulBuilder &g, const MatmulBlocks &blocks, const BoundedSize &m, const BoundedSize &k,
                               int64_t unit = 1);

/// What a product takes in one thread, roughly, in nanoseconds.
double estimateMatmulNs(const MatmulTile &tile, int64_t m, int64_t n, int64_t k);

/// With how many rows at most the rows of b are read in the order of memory, for all rows of a at the same time: where
/// these are few and reading b is what takes the time. b has unit stride along n.
int64_t mostStreamedRows(Type element, unsigned vectorBits, int64_t n, int64_t k);

/// No product with more rows is streamed.
inline constexpr int64_t kMostStreamedRows = 8;

/// The tile of a product that is streamed.
MatmulTile streamingTile(Type element, unsigned vectorBits, int64_t rows);

/// Blocks of about so many columns that n is cut into.
int64_t streamBlocks(int64_t n, int64_t columns);

/// Blocks of depth that a product which is streamed is cut into: threads share them, and each reads its own in the
/// order of memory. The sums of each are added up in the end, in order.
int64_t streamDepthBlocks(Type element, const BoundedSize &m, const BoundedSize &n, const BoundedSize &k);

/// What such a product keeps beside its result, in elements: a line that begins with the number 1, and from there on
/// the sums of each block of depth.
inline constexpr int64_t kStreamSumsOffset = 16;

/// Emits a product that is streamed. Its packing is InPlace; there is a function for each number of rows that it may
/// have.
void emitStream(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call);

/// Emits the product where `b` stands, and the functions that it calls where `module` has none yet.
void emitMatmul(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMUL_H

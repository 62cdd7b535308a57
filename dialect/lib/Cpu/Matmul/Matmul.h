// Emits one matmul: blocks over columns and depth around the functions of MatmulKernels.h. array-lower-matmuls decides
// which contractions become one.
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

/// Factors stored in pairs. The matmul's element type is that of its sums, its depth counts pairs, and k is the number
/// of terms.
struct Dot2Operands {
  Dot2Factor left, right;
  BoundedSize k;
};

/// A matrix that the next matmul reads or writes. Prefetching `step` elements for each term of each tile covers it.
struct MatmulAhead {
  Value buffer, offset;
  int64_t step;
};

/// Rows and columns of a block, and the maximum terms that are summed in registers.
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
  Value packBuffer; ///< 1-D, of matmulPackElements(...) elements from `packOffset` on; null if nothing is packed.
  Value packOffset;
  Value accumulate;
  /// Called for each block of rows and columns (row, rows, column, columns) once its sums are complete.
  std::function<void(Value, Value, Value, Value)> finish = {};
  /// The last step of tiles before they store sums: add a matrix like c, and take the maximum with zero. With an
  /// addend, sums start at zero.
  std::optional<MatmulMatrix> addend = {};
  bool rectifies = false;
  std::optional<Dot2Operands> pairing = {};
  /// For an operand that is computed block by block: (row, column, rows, columns, target) stores the elements from
  /// (row, column) on in `target`. The right operand goes to the packing buffer. The left one goes to `leftBuffer`,
  /// 1-D, of matmulLeftElements(...) elements from `leftOffset` on; then only the strides of `a` are used. Pairs of the
  /// left factor go to `leftBuffer`, too.
  std::function<void(Value, Value, Value, Value, Value)> produceLeft = {}, produceRight = {};
  Value leftBuffer = {}, leftOffset = {};
  /// Whether blocks of `a`, whose columns have unit stride, are packed to `leftBuffer`, of the same number of elements,
  /// before the tiles read them. The rows of a block are a multiple of the tile's.
  bool packsLeft = false;
  /// For a streamed matmul: the blocks of depth, and a 1-D buffer for their sums if there are several.
  int64_t depthBlocks = 1;
  Value depthSums = {};
  /// The next a, b and c, which this matmul prefetches; or none. For matmuls of known sizes in one block of tiles that
  /// read the right operand in place.
  SmallVector<MatmulAhead, 3> ahead = {};
};

/// Fails, in the name of `pass`, unless there are tiles for registers of `vectorBits`.
LogicalResult verifyVectorBits(ModuleOp module, StringRef pass, unsigned vectorBits);

/// The tile for `vectorBits` wide registers and results with `columns` columns.
MatmulTile chooseMatmulTile(Type element, unsigned vectorBits, int64_t columns);

/// Tiles with more vectors than `tile`, which broadcast less for the same number of sums. They are faster for most
/// matmuls.
SmallVector<MatmulTile> wideTiles(const MatmulTile &tile, unsigned vectorBits);

/// The tile, or a wide one, with the least time for these rows and columns. Its height leaves the fewest rows of the
/// last tile of `rows` empty. If that depends on the call, the result is the tallest tile, and emitMatmul lets the call
/// choose. Rows of the right operand are `rowBytes` apart.
MatmulTile fitMatmulTile(const MatmulTile &tile, unsigned vectorBits, const BoundedSize &rows, int64_t columns,
                         int64_t rowBytes);

/// The minimum rows of a tile that keep the registers busy: additions to one accumulator wait for each other.
int64_t leastTileRows(const MatmulTile &tile);

/// The tile heights that fitMatmulTile may choose for a call, among which emitMatmul chooses. With many rows the choice
/// matters little.
SmallVector<int64_t> goodTileRows(const MatmulTile &tile, const BoundedSize &rows);

/// The blocks for the caches of this machine. The depth is the same on all machines. Rows of the result are `rowStride`
/// elements apart.
MatmulBlocks chooseMatmulBlocks(Type element, const MatmulTile &tile, int64_t m, int64_t n, int64_t k,
                                int64_t rowStride);

/// Rows of the left operand that stay in the cache.
int64_t cachedRows(Type element);

/// Blocks of k, of at most `most` terms, are of about the same size: a short last one would write c for little work.
int64_t evenDepthBlock(int64_t k, int64_t most);

/// The maximum over all values of `k`.
int64_t mostDepthBlock(const BoundedSize &k, int64_t most);

/// At most the minimum, which is that of the last block.
int64_t leastDepthBlock(const BoundedSize &k, int64_t most);

/// Whether there are enough rows for threads to share blocks of `rowStep`.
bool sharesRows(const BoundedSize &m, int64_t rowStep);

/// The maximum number of elements in the packed block of a k x n operand; 0 if it is read in place.
int64_t matmulPackElements(const MatmulTile &tile, MatmulPacking packing, const MatmulBlocks &blocks,
                           const BoundedSize &k, const BoundedSize &n);

/// The maximum number of elements of the left operand that are computed or packed at a time, in tiles of `unit` rows.
BoundedSize matmulLeftElements(MatmulBuilder &g, const MatmulBlocks &blocks, const BoundedSize &m, const BoundedSize &k,
                               int64_t unit = 1);

/// The approximate time of a matmul in one thread, in nanoseconds.
double estimateMatmulNs(const MatmulTile &tile, int64_t m, int64_t n, int64_t k);

/// The maximum number of rows for streaming, in which the rows of b are read in the order of memory, for all rows of a
/// at the same time. Streaming pays off if there are few rows and reading b dominates. b has unit stride along n.
int64_t mostStreamedRows(Type element, unsigned vectorBits, int64_t n, int64_t k);

/// No matmul with more rows is streamed.
inline constexpr int64_t kMostStreamedRows = 8;

/// The tile of a streamed matmul.
MatmulTile streamingTile(Type element, unsigned vectorBits, int64_t rows);

/// The number of blocks of about `columns` columns into which n is divided.
int64_t streamBlocks(int64_t n, int64_t columns);

/// The number of blocks of depth of a streamed matmul. Threads share the blocks, and each thread reads its block in the
/// order of memory. The sums of the blocks are added up at the end, in order.
int64_t streamDepthBlocks(Type element, const BoundedSize &m, const BoundedSize &n, const BoundedSize &k);

/// The memory of such a matmul besides its result, in elements: a line that begins with the number 1, and then the sums
/// of each block of depth.
inline constexpr int64_t kStreamSumsOffset = 16;

/// Emits a streamed matmul. Its packing is InPlace. Each possible number of rows has a function.
void emitStream(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call);

/// Emits the matmul at the insertion point of `b`, and the functions that it calls and `module` lacks.
void emitMatmul(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMUL_H

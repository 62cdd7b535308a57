// Emits one matrix product: a loop over blocks of columns and of depth, where the sizes ask for one, around the calls
// that pack a block of the right operand and multiply all rows with it. The packed block stays in the second cache.
#include "Gemm.h"
#include "Caches.h"
#include "Parallel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

namespace mlir::array {

namespace {

/// Blocks of at most kGemmDepth terms: `rows` of the left operand take a quarter of the second cache, and stay there
/// while the panels of `columns` of the right one pass, which take at most twice that cache.
struct CacheBlocks {
  int64_t rows, columns;
};

CacheBlocks cacheBlocks(Type element) {
  int64_t terms = secondCacheBytes() / (kGemmDepth * element.getIntOrFloatBitWidth() / 8);
  auto size = [](int64_t count, int64_t least, int64_t most) {
    return std::clamp<int64_t>(llvm::bit_floor(uint64_t(count)), least, most);
  };
  return {size(terms / 4, 32, 256), size(terms * 2, 512, 4096)};
}

/// Where threads share the rows, there are more blocks of fewer rows, but not so few that panels are loaded too often.
constexpr int64_t leastRowBlock = 32, rowBlocks = 16;

/// A product of at most this depth writes more than it computes.
constexpr int64_t shallowDepth = 16, pageBytes = 4096;

/// A byte that is packed, and one that is streamed.
constexpr double packNs = 0.04, readNs = 0.03;

/// Columns that are streamed at once: pieces of a row that are long enough for the memory's prefetching, and sums that
/// stay in the first cache. Where threads share them, there are more blocks.
constexpr int64_t leastStream = 1024, mostStream = 4096, streamBlocks = 16;

/// Blocks of k are of about the same size: a short last one would write c for little work.
int64_t evenDepthBlock(int64_t k, int64_t most) { return llvm::divideCeil(k, llvm::divideCeil(k, most)); }

/// Rows of a block.
int64_t rowStepOf(const GemmTile &tile, const CacheBlocks &cached, int64_t m, int64_t n, int64_t k, int64_t rowBytes) {
  // Writing c is what takes the time: no more of its rows side by side than the first cache has room for in the same
  // sets. They are next to each other, so the panels stay in the caches.
  if (k <= shallowDepth && n > tile.columns()) {
    int64_t places = pageBytes / std::gcd(rowBytes, pageBytes);
    return std::min(tile.rows * places, cached.rows);
  }
  double blockNs = estimateGemmNs(tile, m, std::min(n, cached.columns), evenDepthBlock(k, kGemmDepth));
  if (blockNs < kSharedNs || m < 4 * leastRowBlock)
    return cached.rows;
  int64_t rows = llvm::alignTo(llvm::divideCeil(m, rowBlocks), tile.rows);
  return std::clamp<int64_t>(rows, leastRowBlock, cached.rows);
}

class GemmEmitter {
public:
  GemmEmitter(ImplicitLocOpBuilder &b, ModuleOp module, const GemmCall &call)
      : g(b), b(b), call(call), module(module), leftMatrix(call.a) {}

  void emitTiles() {
    isOnce = call.packing == GemmPacking::Once;
    tiles = isOnce ? getGemmTilesOnce(module, call.element, call.tile)
                   : getGemmTiles(module, call.element, call.tile, call.pairing.has_value());
    if (call.pairing)
      pairLeft();
    else if (call.packing != GemmPacking::InPlace && !isOnce && !call.produceRight)
      pack = getGemmPack(module, call.element, call.tile, call.packing);
    int64_t n = std::min(call.n, call.blocks.columns), k = evenDepthBlock(call.k, call.blocks.depth);
    double blockNs = estimateGemmNs(call.tile, call.m, n, k);
    int64_t rowStep = call.blocks.rows;
    bool sharesRows = call.m >= 2 * rowStep;
    double rowsNs = sharesRows ? blockNs / double(call.m) * double(rowStep) : 0;
    panelNs =
        sharesRows ? 0 : blockNs / double(call.m) * double(std::min(call.m, rowStep)) / double(n) * call.tile.columns();
    blocks(call.n, call.blocks.columns, 0, [&](Value column, Value width) {
      blocks(call.k, k, 0, [&](Value depth, Value height) {
        if (isPacked())
          packBlock(depth, column, height, width);
        blocks(call.m, rowStep, rowsNs, [&](Value row, Value rows) {
          if (call.produceLeft)
            produceLeft(row, rows, depth, height, rowStep);
          multiply(row, rows, depth, height, column, width);
          if (call.finish)
            finish(row, rows, depth, height, column, width);
        });
      });
    });
  }

  void emitStream() {
    func::FuncOp stream = getGemmStream(module, call.element, call.tile);
    int64_t step = std::clamp<int64_t>(llvm::divideCeil(call.n, streamBlocks), leastStream, mostStream);
    step = llvm::alignTo(step, call.tile.lanes);
    double bytes = double(call.k) * double(std::min(step, call.n)) * call.element.getIntOrFloatBitWidth() / 8;
    blocks(call.n, step, bytes * readNs, [&](Value column, Value width) {
      Value zero = g.index(0), rows = g.index(call.m), depths = g.index(call.k);
      Value left = view(call.a, zero, zero, rows, depths, /*unitStride=*/false);
      Value right = view(call.b, zero, column, depths, width, /*unitStride=*/true);
      Value result = view(call.c, zero, column, rows, width, /*unitStride=*/true);
      func::CallOp::create(b, stream, ValueRange{left, right, result, call.accumulate});
    });
  }

private:
  bool isPacked() const { return pack || call.produceRight; }

  /// Computes a block of the left operand, laid out along the dimension that it lies along. Blocks of rows that threads
  /// share have memory of their own.
  void produceLeft(Value row, Value rows, Value depth, Value height, int64_t rowStep) {
    int64_t most = evenDepthBlock(call.k, call.blocks.depth);
    Value offset = call.m >= 2 * rowStep ? g.advance(call.leftOffset, row, most) : call.leftOffset;
    bool isAlongDepth = call.a.columnStride == 1;
    leftMatrix = {call.leftBuffer, offset, isAlongDepth ? most : 1, isAlongDepth ? 1 : std::min(rowStep, call.m)};
    call.produceLeft(row, depth, rows, height, block(leftMatrix, rows, height));
  }

  /// A matrix of known strides.
  Value block(const GemmMatrix &matrix, Value rows, Value columns) {
    SmallVector<OpFoldResult> sizes{getAsOpFoldResult(rows), getAsOpFoldResult(columns)};
    SmallVector<OpFoldResult> strides{b.getIndexAttr(matrix.rowStride), b.getIndexAttr(matrix.columnStride)};
    auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {matrix.rowStride, matrix.columnStride});
    int64_t shape[] = {getConstantIntValue(sizes[0]).value_or(ShapedType::kDynamic),
                       getConstantIntValue(sizes[1]).value_or(ShapedType::kDynamic)};
    return memref::ReinterpretCastOp::create(b, MemRefType::get(shape, call.element, layout), matrix.buffer,
                                             OpFoldResult(matrix.offset), sizes, strides);
  }

  /// Makes pairs of the whole left factor, which the tiles then read instead; the right one becomes pairs as it is
  /// packed.
  void pairLeft() {
    const GemmPairing &pairing = *call.pairing;
    pack = getPairRight(module, pairing.right, call.tile);
    func::FuncOp function = getPairLeft(module, pairing.left, call.tile);
    leftMatrix = {call.leftBuffer, call.leftOffset, call.k, 1};
    double rowNs = double(pairing.k) * packNs;
    int64_t step = cacheBlocks(call.element).rows;
    blocks(call.m, step, rowNs * double(step), [&](Value row, Value rows) {
      Value factors =
          view(call.a, row, g.index(0), rows, g.index(pairing.k), pairing.left.unitStride, pairing.left.element);
      Value pairs = view(leftMatrix, row, g.index(0), rows, g.index(call.k), /*unitStride=*/true);
      func::CallOp::create(b, function, ValueRange{factors, pairs});
    });
  }

  /// Calls `body(first, size)` for blocks of `total`, in a loop where there is more than one. Threads may share it if
  /// a block's time is given.
  void blocks(int64_t total, int64_t step, double blockNs, llvm::function_ref<void(Value, Value)> body) {
    if (total <= step)
      return body(g.index(0), g.index(total));
    scf::ForOp loop = g.loop(g.index(0), g.index(total), step, [&](Value first) {
      bool isEven = total % step == 0;
      body(first, isEven ? g.index(step) : g.min(g.sub(g.index(total), first), g.index(step)));
    });
    markParallel(loop, llvm::divideCeil(total, step), blockNs);
  }

  /// The first block of depth starts the sums, the others add to them.
  Value add(Value depth) {
    if (call.k <= call.blocks.depth)
      return call.accumulate;
    Value later = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, depth, g.index(0));
    return arith::OrIOp::create(b, call.accumulate, later);
  }

  /// After the last block of depth.
  void finish(Value row, Value rows, Value depth, Value height, Value column, Value width) {
    OpBuilder::InsertionGuard guard(b);
    if (call.k > call.blocks.depth) {
      Value end = g.add(depth, height);
      Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, end, g.index(call.k));
      b.setInsertionPointToStart(scf::IfOp::create(b, isLast).thenBlock());
    }
    call.finish(row, rows, column, width);
  }

  Value position(const GemmMatrix &matrix, Value row, Value column) {
    return g.advance(g.advance(matrix.offset, row, matrix.rowStride), column, matrix.columnStride);
  }

  Value view(const GemmMatrix &matrix, Value row, Value column, Value height, Value width, bool unitStride,
             Type element = {}) {
    SmallVector<OpFoldResult> sizes{height, width}, strides{g.index(matrix.rowStride)};
    strides.push_back(unitStride ? OpFoldResult(b.getIndexAttr(1)) : OpFoldResult(g.index(matrix.columnStride)));
    return memref::ReinterpretCastOp::create(b, gemmMatrixType(element ? element : call.element, unitStride),
                                             matrix.buffer, OpFoldResult(position(matrix, row, column)), sizes,
                                             strides);
  }

  /// Multiplies a block of rows with every panel of a block of columns.
  void multiply(Value row, Value rows, Value depth, Value height, Value column, Value width) {
    int64_t columns = call.tile.columns();
    bool isProduced = call.produceLeft != nullptr;
    Value left = view(leftMatrix, isProduced ? g.index(0) : row, isProduced ? g.index(0) : depth, rows, height,
                      /*unitStride=*/false);
    Value accumulate = add(depth);
    auto onePanel = [&](Value first) {
      Value at = g.add(column, first);
      bool isWhole = call.n % columns == 0;
      Value size = isWhole ? g.index(columns) : g.min(g.sub(g.index(call.n), at), g.index(columns));
      Value result = view(call.c, row, at, rows, size, /*unitStride=*/true);
      Value right =
          isOnce ? view(call.b, depth, at, height, size, /*unitStride=*/true) : panel(depth, height, column, first);
      func::CallOp::create(b, tiles, ValueRange{left, right, result, accumulate});
    };
    if (call.n <= columns)
      return onePanel(g.index(0));
    scf::ForOp loop = g.loop(g.index(0), width, columns, onePanel);
    markParallel(loop, llvm::divideCeil(std::min(call.n, call.blocks.columns), columns), panelNs);
  }

  /// The panel from column `first` of the block at `column`: a view of b, or packed before.
  Value panel(Value depth, Value height, Value column, Value first) {
    MemRefType type = gemmPanelType(call.element, call.tile);
    SmallVector<OpFoldResult> sizes{height, b.getIndexAttr(call.tile.columns())};
    Value buffer = isPacked() ? call.packBuffer : call.b.buffer;
    // Packed panels of `height` rows follow each other.
    Value offset = isPacked() ? g.add(call.packOffset, arith::MulIOp::create(b, first, height))
                              : position(call.b, depth, g.add(column, first));
    Value rowStride = g.index(isPacked() ? call.tile.columns() : call.b.rowStride);
    SmallVector<OpFoldResult> strides{rowStride, b.getIndexAttr(1)};
    return memref::ReinterpretCastOp::create(b, type, buffer, OpFoldResult(offset), sizes, strides);
  }

  /// Packs a block; threads may share a large one, some panels each.
  void packBlock(Value depth, Value column, Value height, Value width) {
    int64_t columns = call.tile.columns(), n = std::min(call.n, call.blocks.columns);
    double panelPackNs = double(evenDepthBlock(call.k, call.blocks.depth) * columns * 2) *
                         call.element.getIntOrFloatBitWidth() / 8 * packNs;
    int64_t panels = llvm::divideCeil(n, columns), step = std::max<int64_t>(1, std::ceil(kPieceNs / panelPackNs));
    if (panelPackNs * double(panels) < kSharedNs || panels < 2 * step)
      return packPanels(depth, column, height, width, g.index(0));
    scf::ForOp loop = g.loop(g.index(0), width, step * columns, [&](Value first) {
      Value rest = g.min(g.sub(width, first), g.index(step * columns));
      packPanels(depth, g.add(column, first), height, rest, first);
    });
    markParallel(loop, llvm::divideCeil(panels, step), panelPackNs * double(step));
  }

  /// Packs the columns from `column` on, which are the block's own from `first` on.
  void packPanels(Value depth, Value column, Value height, Value width, Value first) {
    int64_t columns = call.tile.columns();
    if (call.produceRight)
      return producePanels(depth, column, height, width, first);
    Value offset = g.add(call.packOffset, arith::MulIOp::create(b, first, height));
    Value count = arith::DivUIOp::create(b, g.add(width, columns - 1), g.index(columns));
    SmallVector<OpFoldResult> sizes{count, height, b.getIndexAttr(columns)};
    SmallVector<OpFoldResult> strides{g.mul(height, columns), b.getIndexAttr(columns), b.getIndexAttr(1)};
    Value packed = memref::ReinterpretCastOp::create(b, gemmPackedType(call.element, call.tile), call.packBuffer,
                                                     OpFoldResult(offset), sizes, strides);
    func::CallOp::create(b, pack, ValueRange{source(depth, column, height, width), packed});
  }

  /// Computes panels instead of packing them. Columns beyond n are zeros.
  void producePanels(Value depth, Value column, Value height, Value width, Value first) {
    int64_t columns = call.tile.columns(), rest = call.n % columns;
    auto panelAt = [&](Value position, Value size) {
      Value offset = g.add(call.packOffset, arith::MulIOp::create(b, g.add(first, position), height));
      return block({call.packBuffer, offset, columns, 1}, height, size);
    };
    Value whole = width;
    if (rest != 0)
      whole = g.mul(arith::DivUIOp::create(b, width, g.index(columns)), columns);
    if (call.n >= columns)
      g.loop(g.index(0), whole, columns, [&](Value position) {
        Value size = g.index(columns);
        call.produceRight(depth, g.add(column, position), height, size, panelAt(position, size));
      });
    if (rest == 0)
      return;
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, whole, width);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, isLast).thenBlock());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(call.element));
    linalg::FillOp::create(b, zero, panelAt(whole, g.index(columns)));
    call.produceRight(depth, g.add(column, whole), height, g.index(rest), panelAt(whole, g.index(rest)));
  }

  Value source(Value depth, Value column, Value height, Value width) {
    if (call.pairing) {
      const GemmNarrow &factor = call.pairing->right;
      Value first = g.mul(depth, 2), terms = g.min(g.mul(height, 2), g.sub(g.index(call.pairing->k), first));
      return view(call.b, first, column, terms, width, factor.unitStride, factor.element);
    }
    if (call.packing != GemmPacking::Columns)
      return view(call.b, depth, column, height, width, /*unitStride=*/call.packing == GemmPacking::Rows);
    GemmMatrix transposed{call.b.buffer, call.b.offset, call.b.columnStride, call.b.rowStride};
    return view(transposed, column, depth, width, height, /*unitStride=*/true);
  }

  GemmBuilder g;
  ImplicitLocOpBuilder &b;
  const GemmCall &call;
  ModuleOp module;
  func::FuncOp tiles, pack;
  bool isOnce = false;   ///< the first tile of a panel copies it
  GemmMatrix leftMatrix; ///< as the tiles read it
  double panelNs = 0;    ///< of a panel, where threads may share the panels
};

} // namespace

LogicalResult verifyVectorBits(ModuleOp module, StringRef pass, unsigned vectorBits) {
  if (vectorBits == 128 || vectorBits == 256 || vectorBits == 512)
    return success();
  return module.emitError(pass) << ": vector-bits is " << vectorBits << ", not 128, 256 or 512";
}

GemmTile chooseGemmTile(Type element, unsigned vectorBits, int64_t columns) {
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  // As many rows as leave registers for one broadcast and the row of the panel: 32 registers of 512 bits (8 rows reach
  // the peak already), 16 narrower ones.
  int64_t rows = vectorBits >= 512 ? 8 : vectorBits >= 256 ? 6 : 4;
  while (lanes > 4 && columns <= lanes / 2)
    lanes /= 2;
  return {rows, columns <= lanes ? 1 : 2, lanes};
}

int64_t leastTileRows(const GemmTile &tile) {
  constexpr int64_t leastSums = 8;
  return std::min(tile.rows, std::max<int64_t>(llvm::divideCeil(leastSums, tile.vectors), tile.rows / 2 + 1));
}

GemmTile fitGemmTile(GemmTile tile, int64_t rows) {
  // A row takes its time in each tile, and what a tile loads and stores takes as long as another one.
  auto cost = [&](int64_t height) { return llvm::divideCeil(rows, height) * (height + 1); };
  GemmTile best = tile;
  for (int64_t height = tile.rows - 1; height >= leastTileRows(tile); --height)
    if (cost(height) < cost(best.rows))
      best.rows = height;
  return best;
}

GemmBlocks chooseGemmBlocks(Type element, const GemmTile &tile, int64_t m, int64_t n, int64_t k, int64_t rowStride) {
  CacheBlocks cached = cacheBlocks(element);
  int64_t rowBytes = rowStride * element.getIntOrFloatBitWidth() / 8;
  return {rowStepOf(tile, cached, m, n, k, rowBytes), cached.columns, kGemmDepth};
}

int64_t gemmPackElements(const GemmTile &tile, GemmPacking packing, const GemmBlocks &blocks, int64_t k, int64_t n) {
  if (packing == GemmPacking::InPlace || packing == GemmPacking::Once)
    return 0;
  return evenDepthBlock(k, blocks.depth) * llvm::alignTo(std::min(n, blocks.columns), tile.columns());
}

int64_t gemmLeftElements(const GemmBlocks &blocks, int64_t m, int64_t k) {
  int64_t rows = blocks.rows;
  return evenDepthBlock(k, blocks.depth) * (m >= 2 * rows ? llvm::alignTo(m, rows) : std::min(m, rows));
}

double estimateGemmNs(const GemmTile &tile, int64_t m, int64_t n, int64_t k) {
  // Six multiply-adds of a vector in a nanosecond.
  return double(m) * double(n) * double(k) / (6 * double(tile.lanes));
}

bool isStreamed(Type element, unsigned vectorBits, int64_t m, int64_t n, int64_t k) {
  // Up to three rows, tiles would compute more that is thrown away than what is needed. Up to eight, they are faster
  // where b is in the second cache.
  constexpr int64_t fewRows = 3, cachedBytes = 1 << 20, leastElements = 4096, leastDepth = 8;
  int64_t bits = element.getIntOrFloatBitWidth(), elements = n * k;
  return n >= vectorBits / bits && k >= leastDepth && elements >= leastElements &&
         (m <= fewRows || (m <= kMostStreamedRows && elements * bits / 8 > cachedBytes));
}

GemmTile streamingTile(Type element, unsigned vectorBits, int64_t rows) {
  return {rows, 1, vectorBits / element.getIntOrFloatBitWidth()};
}

void emitStream(ImplicitLocOpBuilder &b, ModuleOp module, const GemmCall &call) {
  GemmEmitter(b, module, call).emitStream();
}

void emitGemm(ImplicitLocOpBuilder &b, ModuleOp module, const GemmCall &call) {
  GemmEmitter(b, module, call).emitTiles();
}

} // namespace mlir::array

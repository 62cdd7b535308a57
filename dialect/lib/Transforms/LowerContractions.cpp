// array-lower-contractions: products of matrices on buffers become the blocked products that Gemm.cpp emits. It
// comes after bufferization and before array-plan-memory, which gives the packing buffers their place; what it leaves
// alone is for array-linalg-to-loops.
#include "ContractionForm.h"
#include "Gemm.h"
#include "GemmEpilogue.h"
#include "Parallel.h"
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERCONTRACTIONS
#include "array/Transforms/Passes.h.inc"

namespace {

/// An operand of the contraction: its buffer, and its stride in each loop of the operation (0: the loop does not move
/// it).
struct Operand {
  Value buffer;
  SmallVector<int64_t> strides;
  int64_t offset = 0; ///< dynamic for a slice at an index
  bool isSigned = true;
};

/// Some loops of a contraction as one dimension of a matrix: a size, and a stride for each of a, b, c.
struct Dimension {
  int64_t size = 1;
  int64_t strides[3] = {0, 0, 0};
};

/// c[outer, m, n] += a[outer, m, k] * b[outer, k, n]: what is left over after m, n and k are loops around the product.
struct Product {
  Operand a, b, c;
  Dimension m, n, k;
  SmallVector<Dimension> outer;
  SmallVector<Dimension> outerReductions;
  bool hasBytes = false; ///< factors of 8 bits, sums of 32
};

/// Reads an operand's strides by loop; fails where they are not known or its map is not a projected permutation.
FailureOr<Operand> readOperand(linalg::LinalgOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Operand result{operand.get(), SmallVector<int64_t>(op.getNumLoops(), 0)};
  SmallVector<int64_t> strides;
  if (!type || !type.hasStaticShape() || !map.isProjectedPermutation() ||
      failed(type.getStridesAndOffset(strides, result.offset)) || llvm::any_of(strides, ShapedType::isDynamic))
    return failure();
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides))
    result.strides[cast<AffineDimExpr>(expr).getPosition()] = stride;
  return result;
}

/// Folds the inner ones of `loops` into one dimension, as long as each operand steps through them with one stride, and
/// leaves the outer ones in `rest`. `loops` are ordered from the outermost to the innermost.
Dimension coalesce(SmallVector<Dimension> loops, SmallVector<Dimension> &rest) {
  Dimension result;
  while (!loops.empty()) {
    Dimension &outer = loops.back();
    bool first = result.size == 1;
    for (int i = 0; !first && i < 3; ++i)
      if (outer.strides[i] != result.strides[i] * result.size) {
        rest.append(loops);
        return result;
      }
    if (first)
      result = outer;
    else
      result.size *= outer.size;
    loops.pop_back();
  }
  return result;
}

/// Takes the operation apart; fails where it is no contraction of two buffers of known layout.
FailureOr<Product> analyze(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureBufferSemantics())
    return failure();
  std::optional<std::pair<bool, bool>> bytes = matchBytes(op.getBlock());
  if (!bytes && !isMultiplyAdd(op.getBlock()))
    return failure();
  FailureOr<Operand> a = readOperand(op, *op.getDpsInputOperand(0));
  FailureOr<Operand> b = readOperand(op, *op.getDpsInputOperand(1));
  FailureOr<Operand> c = readOperand(op, *op.getDpsInitOperand(0));
  if (failed(a) || failed(b) || failed(c))
    return failure();
  Product product{*a, *b, *c, {}, {}, {}, {}, {}};
  product.hasBytes = bytes.has_value();
  if (bytes)
    std::tie(product.a.isSigned, product.b.isSigned) = *bytes;
  SmallVector<Dimension> rows, columns, reductions;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (size == 1)
      continue;
    bool inA = a->strides[loop] != 0, inB = b->strides[loop] != 0, inC = c->strides[loop] != 0;
    Dimension dimension{size, {a->strides[loop], b->strides[loop], c->strides[loop]}};
    if (size == 0 || ShapedType::isDynamic(size) || inA + inB + inC < 2)
      return failure();
    (inA && inB && inC ? product.outer : !inC ? reductions : inA ? rows : columns).push_back(dimension);
  }
  // The order of the loops means nothing: the innermost one of a group is the one with the smallest stride in c (or a).
  auto byStride = [](int operand) {
    return [operand](const Dimension &x, const Dimension &y) { return x.strides[operand] > y.strides[operand]; };
  };
  llvm::stable_sort(rows, byStride(2));
  llvm::stable_sort(columns, byStride(2));
  llvm::stable_sort(reductions, byStride(0));
  product.m = coalesce(rows, product.outer);
  product.n = coalesce(columns, product.outer);
  product.k = coalesce(reductions, product.outerReductions);
  return product;
}

/// Makes n the dimension in which c has unit stride, by computing c^T = b^T * a^T where it is m.
LogicalResult orient(Product &product) {
  if (product.n.strides[2] == 1)
    return success();
  if (product.m.strides[2] != 1)
    return failure();
  std::swap(product.a, product.b);
  std::swap(product.m, product.n);
  auto swapStrides = [](Dimension &dimension) { std::swap(dimension.strides[0], dimension.strides[1]); };
  for (Dimension *dimension : {&product.m, &product.n, &product.k})
    swapStrides(*dimension);
  llvm::for_each(product.outer, swapStrides);
  llvm::for_each(product.outerReductions, swapStrides);
  return success();
}

/// The ways to compute a product, by the functions of GemmKernels.h.
enum class Strategy { Loops, Tiles, Stream, Pairs };

/// The rule for what is worth a call. Fewer than 4 rows, columns or terms are a sum or an update of vectors and bound
/// by memory: streamed where b lies that way, else left to the loops. A product of 16x16x16 takes about as long as the
/// call.
Strategy chooseStrategy(const Product &product, Type element, unsigned vectorBits) {
  int64_t m = product.m.size, n = product.n.size, k = product.k.size;
  if (product.hasBytes) {
    // The instruction is there from 256 bits on. The loops are as fast where making the pairs takes long.
    bool isWorthwhile = m >= 16 && n >= 16 && k >= 16 && product.outer.empty() && product.outerReductions.empty();
    return vectorBits >= 256 && isWorthwhile ? Strategy::Pairs : Strategy::Loops;
  }
  if (product.n.strides[1] == 1 && isStreamed(element, vectorBits, m, n, k))
    return Strategy::Stream;
  return m >= 4 && n >= 4 && k >= 4 && m * n * k >= 16 * 16 * 16 ? Strategy::Tiles : Strategy::Loops;
}

/// How b reaches the tile. Reading it in place wins until rows are a page apart, where they compete for the same sets
/// of the cache, or half a page where many rows of a make up for it; with few rows of a, packing never pays.
GemmPacking choosePacking(const Product &product, const GemmTile &tile, Type element) {
  constexpr int64_t pageBytes = 4096, fewRows = 64, manyRows = 256;
  int64_t rowBytes = product.k.strides[1] * element.getIntOrFloatBitWidth() / 8;
  if (product.n.strides[1] == 1) {
    bool inPlace = product.n.size % tile.columns() == 0 && (rowBytes < pageBytes / 2 || product.m.size <= fewRows ||
                                                            (rowBytes < pageBytes && product.m.size < manyRows));
    return inPlace ? GemmPacking::InPlace : GemmPacking::Rows;
  }
  bool hasSquares = product.k.strides[1] == 1 && product.k.size >= tile.squareSide();
  return hasSquares ? GemmPacking::Columns : GemmPacking::Strided;
}

//===--- The call -------------------------------------------------------------------------------------------------===//

class CallEmitter {
public:
  CallEmitter(linalg::LinalgOp op, Product &product, Strategy strategy, Type element, unsigned vectorBits)
      : b(op->getLoc(), op), g(b), op(op), product(product), strategy(strategy), element(element),
        tile(strategy == Strategy::Stream ? streamingTile(element, vectorBits, product.m.size)
                                          : chooseGemmTile(element, vectorBits, product.n.size)),
        packing(strategy == Strategy::Stream  ? GemmPacking::InPlace
                : strategy == Strategy::Pairs ? GemmPacking::Rows
                                              : choosePacking(product, tile, element)) {
    if (strategy == Strategy::Pairs)
      pairBytes();
  }

  void emit() {
    linalg::GenericOp epilogue = takeEpilogue(op);
    if (epilogue)
      product.c.buffer = op.getDpsInits().front();
    linalg::FillOp fill = findZeroFill(op, product.c.buffer);
    planBatch();
    Value packed = packBuffer();
    Value accumulate = arith::ConstantIntOp::create(b, fill ? 0 : 1, 1);
    SmallVector<Value> offsets;
    for (const Operand *operand : {&product.a, &product.b, &product.c})
      offsets.push_back(offsetOf(*operand));
    Value packOffset = g.index(0);
    for (const Dimension &dimension : product.outer) {
      if (&dimension == product.outer.begin() && batchBlocks > 1)
        packOffset = enterSharedLoop(dimension, offsets);
      else
        enterLoop(dimension, offsets);
    }
    for (const Dimension &dimension : product.outerReductions) {
      Value position = enterLoop(dimension, offsets);
      Value started = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, position, g.index(0));
      accumulate = arith::OrIOp::create(b, accumulate, started);
    }
    const Dimension &m = product.m, &n = product.n, &k = product.k;
    GemmMatrix left{product.a.buffer, offsets[0], m.strides[0], k.strides[0]};
    GemmMatrix right{product.b.buffer, offsets[1], k.strides[1], n.strides[1]};
    GemmMatrix result{product.c.buffer, offsets[2], m.strides[2], 1};
    GemmCall call{element, tile, packing, m.size, n.size, k.size, left, right, result, packed, packOffset, accumulate};
    call.pairing = pairing;
    bool isBlocked = strategy != Strategy::Stream && hasRowBlocks(tile, m.size, n.size, k.size);
    bool isWhole = product.outer.empty() && product.outerReductions.empty();
    if (epilogue && isBlocked && isWhole && canBlockEpilogue(epilogue, op))
      call.finish = [&](Value row, Value rows, Value column, Value width) {
        emitEpilogueBlock(b, epilogue, row, rows, column, width);
      };
    (strategy == Strategy::Stream ? emitStream : emitGemm)(b, op->getParentOfType<ModuleOp>(), call);
    if (fill)
      fill.erase();
    if (call.finish)
      epilogue.erase();
    op->erase();
  }

private:
  /// From here on k counts pairs.
  void pairBytes() {
    auto bytes = [](const Operand &operand, int64_t stride) {
      return GemmBytes{getElementTypeOrSelf(operand.buffer.getType()), operand.isSigned, stride == 1};
    };
    int64_t terms = product.k.size;
    product.k.size = pairsOf(terms);
    Value buffer = allocate(product.m.size * product.k.size);
    pairing = {bytes(product.a, product.k.strides[0]), bytes(product.b, product.n.strides[1]), terms, buffer};
  }

  /// Whether threads share the outermost loop around the product: where there are many small products. Where something
  /// is packed, there are some blocks of them, each with a packing buffer of its own.
  void planBatch() {
    if (product.outer.empty())
      return;
    int64_t size = product.outer.front().size, products = 1;
    for (const Dimension &dimension : llvm::drop_begin(product.outer))
      products *= dimension.size;
    for (const Dimension &dimension : product.outerReductions)
      products *= dimension.size;
    itemNs = double(products) * estimateGemmNs(tile, product.m.size, product.n.size, product.k.size);
    if (itemNs * double(size) < kSharedNs || (products == 1 && itemNs > 8 * kSharedNs))
      return;
    constexpr int64_t mostBlocks = 16;
    batchStep = packing == GemmPacking::InPlace ? 1 : llvm::divideCeil(size, mostBlocks);
    batchBlocks = llvm::divideCeil(size, batchStep);
  }

  /// enterLoop for a loop that threads share. Returns the offset of the block's packing buffer.
  Value enterSharedLoop(const Dimension &dimension, MutableArrayRef<Value> offsets) {
    int64_t step = batchStep;
    auto blocks = scf::ForOp::create(b, g.index(0), g.index(dimension.size), g.index(step));
    markParallel(blocks, batchBlocks, itemNs * double(step));
    b.setInsertionPointToStart(blocks.getBody());
    Value position = blocks.getInductionVar(), packOffset = g.index(0);
    if (step > 1 || packing != GemmPacking::InPlace) {
      Value block = arith::DivUIOp::create(b, position, g.index(step));
      packOffset = g.mul(block, packElements());
      Value end = g.min(g.add(position, step), g.index(dimension.size));
      auto loop = scf::ForOp::create(b, position, end, g.index(1));
      b.setInsertionPointToStart(loop.getBody());
      position = loop.getInductionVar();
    }
    for (auto [offset, stride] : llvm::zip_equal(offsets, dimension.strides))
      offset = g.advance(offset, position, stride);
    return packOffset;
  }

  /// Of one packing buffer; whole cache lines.
  int64_t packElements() const {
    return llvm::alignTo(gemmPackElements(tile, packing, product.k.size, product.n.size), 16);
  }

  Value offsetOf(const Operand &operand) {
    if (!ShapedType::isDynamic(operand.offset))
      return g.index(operand.offset);
    return memref::ExtractStridedMetadataOp::create(b, operand.buffer).getOffset();
  }

  /// Goes on in the body of a loop over `dimension`, with the operands' offsets advanced. Returns the position in it.
  Value enterLoop(const Dimension &dimension, MutableArrayRef<Value> offsets) {
    auto loop = scf::ForOp::create(b, g.index(0), g.index(dimension.size), g.index(1));
    b.setInsertionPointToStart(loop.getBody());
    for (auto [offset, stride] : llvm::zip_equal(offsets, dimension.strides))
      offset = g.advance(offset, loop.getInductionVar(), stride);
    return loop.getInductionVar();
  }

  /// The buffer for the packed block, allocated where array-plan-memory looks for it.
  Value packBuffer() {
    int64_t elements = packElements() * batchBlocks;
    return elements == 0 ? Value() : allocate(elements);
  }

  Value allocate(int64_t elements) {
    OpBuilder::InsertionGuard guard(b);
    auto function = op->getParentOfType<func::FuncOp>();
    if (op->getParentOp() != function)
      b.setInsertionPointToStart(&function.getBody().front());
    return memref::AllocOp::create(b, MemRefType::get({elements}, element), b.getI64IntegerAttr(64));
  }

  ImplicitLocOpBuilder b;
  GemmBuilder g;
  linalg::LinalgOp op;
  Product &product;
  Strategy strategy;
  Type element;
  GemmTile tile;
  GemmPacking packing;
  std::optional<GemmPairing> pairing;
  int64_t batchStep = 1, batchBlocks = 1;
  double itemNs = 0;
};

/// For two or three columns that do not lie along k, over rows of a that do: the loops read vectors of both once b is
/// transposed.
void transposeNarrow(linalg::LinalgOp op) {
  constexpr int64_t mostColumns = 3, leastRows = 16, leastDepth = 64;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  FailureOr<Product> product = analyze(op);
  if (!generic || failed(product) || product->hasBytes || !product->outer.empty() || !product->outerReductions.empty())
    return;
  // The narrow factor is the right one, or the left one.
  bool isRight = product->n.size <= mostColumns;
  const Dimension &narrow = isRight ? product->n : product->m, &wide = isRight ? product->m : product->n;
  int number = isRight ? 1 : 0;
  if (narrow.size < 2 || narrow.size > mostColumns || wide.size < leastRows || product->k.size < leastDepth ||
      product->k.strides[1 - number] != 1 || product->k.strides[number] == 1)
    return;
  OpOperand *operand = op.getDpsInputOperand(number);
  AffineMap map = op.getMatchingIndexingMap(operand);
  auto type = cast<MemRefType>(operand->get().getType());
  if (type.getRank() != 2 || type.getElementType() != getElementTypeOrSelf(product->c.buffer.getType()))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  int64_t shape[] = {type.getDimSize(1), type.getDimSize(0)}, swapped[] = {1, 0};
  Value buffer = memref::AllocOp::create(b, MemRefType::get(shape, type.getElementType()), b.getI64IntegerAttr(64));
  linalg::TransposeOp::create(b, operand->get(), buffer, swapped);
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  maps[number] = AffineMap::get(map.getNumDims(), 0, {map.getResult(1), map.getResult(0)}, b.getContext());
  operand->set(buffer);
  generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

struct LowerContractions : impl::LowerContractionsBase<LowerContractions> {
  using Base::Base;

  void runOnOperation() override {
    if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
      getOperation().emitError("array-lower-contractions: vector-bits is ") << vectorBits << ", not 128, 256 or 512";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> contractions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0)
        contractions.push_back(op);
    });
    for (linalg::LinalgOp op : contractions) {
      FailureOr<Product> product = analyze(op);
      if (failed(product) || failed(orient(*product)))
        continue;
      Type element = getElementTypeOrSelf(product->c.buffer.getType());
      Strategy strategy = chooseStrategy(*product, element, vectorBits);
      if (strategy == Strategy::Loops)
        transposeNarrow(op);
      else
        CallEmitter(op, *product, strategy, element, vectorBits).emit();
    }
  }
};

} // namespace
} // namespace mlir::array

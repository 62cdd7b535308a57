// array-lower-contractions: products of matrices on buffers become the blocked products that Gemm.cpp emits. It
// comes after bufferization and before array-plan-memory, which gives the packing buffers their place; what it leaves
// alone is for array-linalg-to-loops.
#include "ContractionForm.h"
#include "ContractionProduct.h"
#include "Gemm.h"
#include "GemmEpilogue.h"
#include "GemmPlan.h"
#include "GemmPrologue.h"
#include "Parallel.h"
#include "array/IR/Plan.h"
#include "array/Transforms/Passes.h"
#include "array/Transforms/ProductPlans.h"
#include "array/Transforms/Products.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERCONTRACTIONS
#include "array/Transforms/Passes.h.inc"

namespace {

/// What a machine multiplies with.
struct Registers {
  unsigned bits;
  bool bfloat16Pairs; ///< multiplies pairs of bf16
};

/// The ways to compute a product, by the functions of GemmKernels.h.
enum class Strategy { Loops, Tiles, Stream, Pairs };

/// The rule for what is worth a call. Fewer than 4 rows, columns or terms are a sum or an update of vectors and bound
/// by memory: streamed where b lies that way, else left to the loops.
Strategy chooseStrategy(const Product &product, Type element, const Registers &registers) {
  int64_t m = product.m.size, n = product.n.size, k = product.k.size;
  // The instruction for bytes is there from 256 bits on. The loops are as fast where making the pairs takes long.
  if (product.narrow == Product::Bytes)
    return registers.bits >= 256 && isWorthPairing(m, n, k) ? Strategy::Pairs : Strategy::Loops;
  if (product.narrow == Product::BFloat16)
    return registers.bits == 512 && registers.bfloat16Pairs && isWorthBlocking(m, n, k) ? Strategy::Pairs
                                                                                        : Strategy::Loops;
  if (product.n.strides[1] == 1 && isStreamed(element, registers.bits, m, n, k))
    return Strategy::Stream;
  return isWorthBlocking(m, n, k) ? Strategy::Tiles : Strategy::Loops;
}

/// Whether a product can be streamed at all: b lies that way, and the factors of a row of a have place in registers.
bool canStream(const Product &product, Type element, unsigned vectorBits) {
  constexpr int64_t mostRows = 16;
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  return product.narrow == Product::None && product.n.strides[1] == 1 && product.n.size >= lanes &&
         product.m.size <= mostRows;
}

/// Whether b's panels can be copied by the first tiles that read them: there is one block of rows, and a panel has its
/// place on the stack.
bool canCopyOnce(const Product &product, const GemmBlocks &blocks) {
  return product.n.strides[1] == 1 && product.m.size <= blocks.rows && blocks.depth <= kGemmDepth;
}

/// How b reaches the tile. Reading it in place wins until rows are a page apart, where they compete for the same sets
/// of the cache, or half a page where many rows of a make up for it. Where a has few rows, each panel is needed by one
/// block of them, so it is copied on the way.
GemmPacking choosePacking(const Product &product, const GemmTile &tile, const GemmBlocks &blocks, Type element) {
  constexpr int64_t pageBytes = 4096, manyRows = 256;
  const Dimension &m = product.m, &n = product.n, &k = product.k;
  int64_t rowBytes = k.strides[1] * element.getIntOrFloatBitWidth() / 8;
  if (n.strides[1] == 1) {
    bool inPlace = n.size % tile.columns() == 0 &&
                   (rowBytes < pageBytes / 2 || m.size <= tile.rows || (rowBytes < pageBytes && m.size < manyRows));
    if (inPlace)
      return GemmPacking::InPlace;
    return canCopyOnce(product, blocks) ? GemmPacking::Once : GemmPacking::Rows;
  }
  bool hasSquares = product.k.strides[1] == 1 && product.k.size >= tile.squareSide();
  return hasSquares ? GemmPacking::Columns : GemmPacking::Strided;
}

//===--- Plans ----------------------------------------------------------------------------------------------------===//

/// How a product is cut.
struct Cut {
  Strategy strategy;
  GemmTile tile;
  GemmPacking packing;
  GemmBlocks blocks;
};

/// By the cost model, but for what the plan of the operation says and the operands' layout allows.
Cut chooseCut(linalg::LinalgOp op, const Product &product, Type element, const Registers &registers) {
  unsigned vectorBits = registers.bits;
  int64_t m = product.m.size, n = product.n.size, k = product.k.size;
  Strategy strategy = chooseStrategy(product, element, registers);
  StringRef wanted = planned(op, "strategy", StringRef());
  if (wanted == "loops")
    strategy = Strategy::Loops;
  else if (wanted == "stream" && canStream(product, element, vectorBits))
    strategy = Strategy::Stream;
  else if (wanted == "tiles" && product.narrow == Product::None)
    strategy = Strategy::Tiles;
  if (strategy == Strategy::Stream)
    return {strategy, streamingTile(element, vectorBits, m), GemmPacking::InPlace, GemmBlocks{}};
  // Pairs are multiplied by whole registers.
  int64_t leastColumns = strategy == Strategy::Pairs ? vectorBits / element.getIntOrFloatBitWidth() : 1;
  GemmTile tile = chooseGemmTile(element, vectorBits, std::max(n, leastColumns));
  if (strategy == Strategy::Pairs) {
    k = pairsOf(k);
  } else {
    tile = fitGemmTile(tile, m);
    tile.rows = planned(op, "tile_rows", tile.rows);
    tile.vectors = planned(op, "tile_vectors", tile.vectors);
  }
  GemmBlocks blocks = chooseGemmBlocks(element, tile, m, n, k, product.m.strides[2]);
  blocks.rows = planned(op, "rows", blocks.rows);
  blocks.columns = llvm::alignTo(planned(op, "columns", blocks.columns), tile.columns());
  blocks.depth = planned(op, "depth", blocks.depth);
  GemmPacking packing = GemmPacking::Rows;
  if (strategy != Strategy::Pairs) {
    packing = choosePacking(product, tile, blocks, element);
    StringRef packs = planned(op, "packing", StringRef());
    if (product.n.strides[1] == 1 && packs == "copied")
      packing = GemmPacking::Rows;
    else if (packs == "once" && canCopyOnce(product, blocks))
      packing = GemmPacking::Once;
    else if (product.n.strides[1] == 1 && n % tile.columns() == 0 && packs == "in-place")
      packing = GemmPacking::InPlace;
  }
  return {strategy, tile, packing, blocks};
}

//===--- The call -------------------------------------------------------------------------------------------------===//

class CallEmitter {
public:
  CallEmitter(linalg::LinalgOp op, Product &product, const Cut &cut, Type element)
      : b(op->getLoc(), op), g(b), op(op), product(product), strategy(cut.strategy), element(element), tile(cut.tile),
        packing(cut.packing), gemmBlocks(cut.blocks) {
    if (strategy == Strategy::Pairs)
      makePairs();
  }

  void emit() {
    linalg::GenericOp epilogue = takeEpilogue(op);
    if (epilogue)
      product.c.buffer = op.getDpsInits().front();
    if (epilogue && isCopy(epilogue)) {
      epilogue.erase();
      epilogue = {};
    }
    linalg::FillOp fill = findZeroFill(op, product.c.buffer);
    if (strategy == Strategy::Tiles)
      takePrologues();
    planBatch();
    Value packed = packBuffer();
    Value accumulate = arith::ConstantIntOp::create(b, fill ? 0 : 1, 1);
    SmallVector<Value> offsets;
    for (const Operand *operand : {&product.a, &product.b, &product.c})
      offsets.push_back(offsetOf(*operand));
    for (const Operand &operand : product.more)
      offsets.push_back(offsetOf(operand));
    Value block = g.index(0);
    for (const Dimension &dimension : product.outer) {
      if (&dimension == product.outer.begin() && batchBlocks > 1)
        block = enterSharedLoop(dimension, offsets);
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
    GemmCall call{element, tile,  packing, gemmBlocks, m.size, n.size,    k.size,
                  left,    right, result,  packed,     {},     accumulate};
    call.packOffset = g.mul(block, packElements());
    call.pairing = pairing;
    call.leftBuffer = leftBuffer;
    call.leftOffset = g.mul(block, leftElements());
    bindPrologues(call, ArrayRef(offsets).drop_front(3));
    bool isBlocked = strategy != Strategy::Stream && m.size > gemmBlocks.rows;
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
    for (GemmPrologue &prologue : prologues)
      if (prologue.producer)
        erasePrologue(prologue.producer);
  }

private:
  /// From here on k counts pairs.
  void makePairs() {
    auto factor = [](const Operand &operand, int64_t stride) {
      Type element = getElementTypeOrSelf(operand.buffer.getType());
      return GemmNarrow{element, operand.isSigned && element.isInteger(), stride == 1};
    };
    int64_t terms = product.k.size;
    product.k.size = pairsOf(terms);
    pairing = {factor(product.a, product.k.strides[0]), factor(product.b, product.n.strides[1]), terms};
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
    bool needsNoBuffer = packElements() == 0 && leftElements() == 0;
    batchStep = needsNoBuffer ? 1 : llvm::divideCeil(size, mostBlocks);
    batchBlocks = llvm::divideCeil(size, batchStep);
  }

  /// enterLoop for a loop that threads share. Returns the number of the block, which has packing buffers of its own.
  Value enterSharedLoop(const Dimension &dimension, MutableArrayRef<Value> offsets) {
    int64_t step = batchStep;
    auto blocks = scf::ForOp::create(b, g.index(0), g.index(dimension.size), g.index(step));
    markParallel(blocks, batchBlocks, itemNs * double(step));
    b.setInsertionPointToStart(blocks.getBody());
    Value position = blocks.getInductionVar(), block = position;
    if (step > 1) {
      block = arith::DivUIOp::create(b, position, g.index(step));
      Value end = g.min(g.add(position, step), g.index(dimension.size));
      auto loop = scf::ForOp::create(b, position, end, g.index(1));
      b.setInsertionPointToStart(loop.getBody());
      position = loop.getInductionVar();
    }
    for (auto [offset, stride] : llvm::zip_equal(offsets, dimension.strides))
      offset = g.advance(offset, position, stride);
    return block;
  }

  /// Of one packing buffer; whole cache lines.
  int64_t packElements() const {
    return llvm::alignTo(gemmPackElements(tile, packing, gemmBlocks, product.k.size, product.n.size), 16);
  }

  /// Of the left operand where the tiles do not read it in place; whole cache lines.
  int64_t leftElements() const {
    if (pairing)
      return llvm::alignTo(product.m.size * product.k.size, 16);
    if (!prologues[0].producer)
      return 0;
    return llvm::alignTo(gemmLeftElements(gemmBlocks, product.m.size, product.k.size), 16);
  }

  /// Looks for what computes the operands, as long as that is done once for each element, or is little work beside the
  /// product's.
  void takePrologues() {
    for (int side : {1, 0}) {
      OpOperand *operand = op.getDpsInputOperand(product.isSwapped ? 1 - side : side);
      linalg::GenericOp producer = findPrologue(op, *operand);
      if (!producer || !paysToCompute(side))
        continue;
      FailureOr<SmallVector<Operand>> inputs = readPrologue(producer, op, *operand);
      if (failed(inputs))
        continue;
      SmallVector<Operand> all = product.more;
      all.append(inputs->begin(), inputs->end());
      FailureOr<Product> extended = readProduct(op, all);
      bool isSame = succeeded(extended) && succeeded(orient(*extended)) && extended->isSwapped == product.isSwapped &&
                    extended->m.size == product.m.size && extended->n.size == product.n.size &&
                    extended->k.size == product.k.size && extended->outer.size() == product.outer.size() &&
                    extended->outerReductions.size() == product.outerReductions.size();
      if (!isSame)
        continue;
      prologues[side].producer = producer;
      for (size_t i = product.more.size(); i < all.size(); ++i) {
        int64_t row = (side == 0 ? extended->m : extended->k).strides[3 + i];
        int64_t column = (side == 0 ? extended->k : extended->n).strides[3 + i];
        prologues[side].inputs.push_back({all[i].buffer, Value(), row, column});
      }
      firstInput[side] = product.more.size();
      product = std::move(*extended);
      if (side == 1 && (packing == GemmPacking::InPlace || packing == GemmPacking::Once))
        packing = GemmPacking::Rows;
    }
  }

  /// Whether an operand is worth computing by blocks: it is large, and no element is computed more than twice.
  bool paysToCompute(int side) const {
    constexpr int64_t leastElements = 4096, mostTimes = 2;
    int64_t rows = side == 0 ? product.m.size : product.k.size,
            times = side == 0 ? llvm::divideCeil(product.n.size, gemmBlocks.columns) : 1; // blocks compute it again
    for (const auto *loops : {&product.outer, &product.outerReductions})
      for (const Dimension &dimension : *loops)
        times *= dimension.strides[side] == 0 ? dimension.size : 1;
    return rows * (side == 0 ? product.k.size : product.n.size) >= leastElements && times <= mostTimes;
  }

  /// Tells the call how to compute operands; `offsets` are those of all that they are computed from.
  void bindPrologues(GemmCall &call, ArrayRef<Value> offsets) {
    for (int side : {0, 1}) {
      GemmPrologue &prologue = prologues[side];
      if (!prologue.producer)
        continue;
      for (auto [i, input] : llvm::enumerate(prologue.inputs))
        input.offset = offsets[firstInput[side] + i];
      (side == 0 ? call.produceLeft : call.produceRight) = [this, &prologue](Value row, Value column, Value rows,
                                                                             Value columns, Value target) {
        emitPrologueBlock(b, prologue, row, column, rows, columns, target);
      };
    }
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
    if (int64_t elements = leftElements() * batchBlocks)
      leftBuffer = allocate(elements);
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
  GemmBlocks gemmBlocks;
  std::optional<GemmPairing> pairing;
  GemmPrologue prologues[2];     ///< of the left and the right operand
  size_t firstInput[2] = {0, 0}; ///< of theirs in product.more
  Value leftBuffer;
  int64_t batchStep = 1, batchBlocks = 1;
  double itemNs = 0;
};

/// For two or three columns that do not lie along k, over rows of a that do: the loops read vectors of both once b is
/// transposed.
void transposeNarrow(linalg::LinalgOp op) {
  constexpr int64_t mostColumns = 3, leastRows = 16, leastDepth = 64;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  FailureOr<Product> product = readProduct(op);
  if (!generic || failed(product) || product->narrow != Product::None || !product->outer.empty() ||
      !product->outerReductions.empty())
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

/// Stores the result in the order in which it is read, if the product stays as large as it is.
void storeInOrder(linalg::GenericOp op, const Registers &registers) {
  FailureOr<Product> product = readProduct(op);
  if (failed(product) || failed(orient(*product)))
    return;
  Type element = getElementTypeOrSelf(product->c.buffer.getType());
  if (chooseStrategy(*product, element, registers) != Strategy::Tiles || planned(op, "strategy", "tiles") != "tiles")
    return;
  storeInOrderOfReader(op, [&] {
    FailureOr<Product> other = readProduct(op);
    return succeeded(other) && succeeded(orient(*other)) &&
           chooseStrategy(*other, element, registers) == Strategy::Tiles &&
           other->m.size * other->n.size == product->m.size * product->n.size;
  });
}

struct LowerContractions : impl::LowerContractionsBase<LowerContractions> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(verifyVectorBits(getOperation(), getArgument(), vectorBits)))
      return signalPassFailure();
    Registers registers{vectorBits, bfloat16Pairs};
    SmallVector<linalg::LinalgOp> contractions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0)
        contractions.push_back(op);
    });
    for (linalg::LinalgOp op : contractions) {
      if (failed(verifyPlan(op)))
        return signalPassFailure();
      if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
        storeInOrder(generic, registers);
      FailureOr<Product> product = readProduct(op);
      if (failed(product) || failed(orient(*product)))
        continue;
      Type element = getElementTypeOrSelf(product->c.buffer.getType());
      Cut cut = chooseCut(op, *product, element, registers);
      if (cut.strategy == Strategy::Loops)
        transposeNarrow(op);
      else
        CallEmitter(op, *product, cut, element).emit();
    }
  }
};

} // namespace

std::vector<ProductPlan> productPlans(linalg::LinalgOp op, unsigned vectorBits, bool bfloat16Pairs) {
  FailureOr<Product> product = readProduct(op);
  if (failed(product) || failed(orient(*product)))
    return {};
  Type element = getElementTypeOrSelf(product->c.buffer.getType());
  Cut cut = chooseCut(op, *product, element, {vectorBits, bfloat16Pairs});
  if (cut.strategy == Strategy::Stream)
    cut.tile = chooseGemmTile(element, vectorBits, product->n.size);
  GemmFreedom freedom{product->m.size, product->n.size, product->k.size, cut.tile, cut.blocks};
  freedom.isTiled = cut.strategy == Strategy::Tiles || cut.strategy == Strategy::Pairs;
  freedom.isLooped = cut.strategy == Strategy::Loops;
  freedom.isPairs = product->narrow != Product::None;
  if (!freedom.isPairs && product->n.strides[1] == 1) {
    if (cut.packing != GemmPacking::Rows)
      freedom.packings.push_back("copied");
    if (cut.packing != GemmPacking::Once && canCopyOnce(*product, cut.blocks))
      freedom.packings.push_back("once");
    if (cut.packing != GemmPacking::InPlace && product->n.size % cut.tile.columns() == 0)
      freedom.packings.push_back("in-place");
  }
  freedom.canStream = cut.strategy != Strategy::Stream && canStream(*product, element, vectorBits);
  freedom.registers = vectorBits >= 512 ? 32 : 16;
  return gemmPlans(freedom);
}

} // namespace mlir::array

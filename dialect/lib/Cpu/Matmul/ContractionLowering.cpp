// Replaces one contraction by its matmul (ContractionLowering.h), with its prologues and epilogue, in loops over the
// remaining dimensions, with its buffers.
#include "ContractionLowering.h"
#include "Analysis/ContractionForm.h"
#include "Analysis/ParallelLoops.h"
#include "MatmulEpilogue.h"
#include "MatmulParts.h"
#include "MatmulPrologue.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

namespace {

/// A smaller matrix, in bytes, is loaded in time without prefetching.
constexpr int64_t kLeastAhead = 2 << 10;

class CallEmitter {
public:
  CallEmitter(linalg::LinalgOp op, MatmulForm &product, const MatmulSchedule &schedule, Type element)
      : b(op->getLoc(), op), g(b), op(op), product(product), method(schedule.method), element(element),
        tile(schedule.tile), packing(schedule.packing), matmulBlocks(schedule.blocks), fewRows(schedule.fewRows),
        packsLeft(schedule.packsLeft) {}

  void emit() {
    linalg::GenericOp epilogue = takeEpilogue(op);
    if (epilogue)
      product.c.buffer = op.getDpsInits().front();
    if (epilogue && isCopy(epilogue)) {
      epilogue.erase();
      epilogue = {};
    }
    linalg::FillOp fill = findZeroFill(op, product.c.buffer);
    if (method == MatmulMethod::Tiles)
      takePrologues();
    bool isFilled = fill && !product.maySumNothing();
    if (epilogue && isFilled)
      giveToTiles(epilogue);
    if (method == MatmulMethod::Dot2)
      makeDot2Operand();
    packsLeft &= !prologues[0].producer;
    if (packsLeft)
      matmulBlocks.rows = llvm::alignTo(matmulBlocks.rows, tile.rows);
    planBatch();
    Value packed = packBuffer();
    bool hasLoops = !product.outer.empty() || !product.outerReductions.empty();
    int64_t depthBlocks = method == MatmulMethod::Stream && !hasLoops
                              ? streamDepthBlocks(element, product.m.size, product.n.size, product.k.size)
                              : 1;
    Value depthSums = depthBlocks > 1 ? depthSumsBuffer(depthBlocks) : Value();
    Value accumulate = arith::ConstantIntOp::create(b, isFilled ? 0 : 1, 1);
    SmallVector<Value> offsets;
    for (const Operand *operand : {&product.a, &product.b, &product.c})
      offsets.push_back(offsetOf(*operand));
    for (const Operand &operand : product.more)
      offsets.push_back(offsetOf(operand));
    leaveFewToLoops(isFilled ? fill : linalg::FillOp());
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
    MatmulMatrix left{product.a.buffer, offsets[0], m.strides[0], k.strides[0]};
    MatmulMatrix right{product.b.buffer, offsets[1], k.strides[1], n.strides[1]};
    MatmulMatrix result{product.c.buffer, offsets[2], m.strides[2], 1};
    MatmulCall call{element, tile,  packing, matmulBlocks, m.size, n.size,    k.size,
                    left,    right, result,  packed,       {},     accumulate};
    call.packOffset = g.mul(block, packElements());
    call.pairing = pairing;
    call.leftBuffer = leftBuffer;
    call.leftOffset = g.mul(block, leftElements);
    call.packsLeft = packsLeft;
    call.depthBlocks = depthBlocks;
    call.depthSums = depthSums;
    bindPrologues(call, ArrayRef(offsets).drop_front(3));
    announceNext(call, offsets);
    bool isBlocked = tileEpilogue || (method != MatmulMethod::Stream && m.size.expected() > matmulBlocks.rows);
    if (epilogue && isBlocked && canFinish(epilogue))
      call.finish = [&](Value row, Value rows, Value column, Value width) {
        emitEpilogueBlock(b, epilogue, row, rows, column, width);
      };
    if (tileEpilogue)
      bindTileEpilogue(call, offsets);
    emitCall(call);
    if (call.finish)
      for (Block *few : fewBlocks) {
        b.setInsertionPoint(few->getTerminator());
        call.finish(g.index(0), g.index(m.size), g.index(0), g.index(n.size));
      }
    if (isFilled)
      fill.erase();
    if (call.finish || tileEpilogue)
      epilogue.erase();
    op->erase();
    for (MatmulPrologue &prologue : prologues)
      if (prologue.producer)
        erasePrologue(prologue.producer);
  }

private:
  /// Emits the variants of the matmul. The call chooses one by its number of rows. With an empty variant, nothing is
  /// read.
  void emitCall(MatmulCall &call) {
    OpBuilder::InsertionGuard guard(b);
    if (call.m.least() <= 0 || call.n.least() <= 0) {
      Value isThere;
      for (const BoundedSize &size : {call.m, call.n}) {
        Value isSome = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, g.index(size), g.index(0));
        isThere = isThere ? arith::AndIOp::create(b, isThere, isSome) : isSome;
      }
      b.setInsertionPointToStart(scf::IfOp::create(b, isThere).thenBlock());
      call.m = call.m.within(1, call.m.most());
    }
    ModuleOp module = op->getParentOfType<ModuleOp>();
    if (method == MatmulMethod::Stream)
      return emitStream(b, module, call);
    int64_t few = call.produceLeft || call.produceRight ? 0 : fewRows;
    if (call.m.isStatic() || call.m.least() > few)
      return emitTiles(module, call);
    Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, g.index(call.m), g.index(few));
    auto branch = scf::IfOp::create(b, isFew, /*withElseRegion=*/true);
    MatmulCall streamed = call, tiled = call;
    streamed.m = call.m.within(1, few);
    tiled.m = call.m.within(few + 1, call.m.most());
    b.setInsertionPointToStart(branch.thenBlock());
    emitStream(b, module, streamed);
    if (call.finish)
      call.finish(g.index(0), g.index(call.m), g.index(0), g.index(call.n));
    b.setInsertionPointToStart(branch.elseBlock());
    emitTiles(module, tiled);
  }

  /// The epilogue in tiles replaces the epilogue after them.
  void emitTiles(ModuleOp module, MatmulCall call) {
    if (tileEpilogue)
      call.finish = {};
    emitMatmul(b, module, call);
  }

  /// Whether `epilogue` may run on blocks of the result.
  bool canFinish(linalg::GenericOp epilogue) {
    return product.outer.empty() && product.outerReductions.empty() && !product.maySumNothing() &&
           canBlockEpilogue(epilogue, op);
  }

  /// Moves `epilogue` into the tiles, if they support it. The variants without tiles, for some sizes, must support it,
  /// too.
  void giveToTiles(linalg::GenericOp epilogue) {
    bool isTiled = method == MatmulMethod::Tiles || method == MatmulMethod::Dot2;
    bool hasTilesOnly = product.m.size.isStatic() && product.n.size.isStatic() && product.k.size.isStatic();
    if (!isTiled || !product.outerReductions.empty() ||
        !(hasTilesOnly ? canMoveEpilogue(epilogue, op) : canFinish(epilogue)))
      return;
    std::optional<TileEpilogue> matched = matchTileEpilogue(epilogue, product.c.buffer);
    if (!matched)
      return;
    if (OpOperand *addend = matched->addend) {
      FailureOr<Operand> read = readOperandBeside(epilogue, *addend, op, *op.getDpsInitOperand(0));
      if (failed(read) || getElementTypeOrSelf(addend->get().getType()) != element)
        return;
      SmallVector<Operand> all = product.more;
      all.push_back(std::move(*read));
      FailureOr<MatmulForm> extended = extendProduct(all);
      if (failed(extended) || !extended->n.strides.back().isStatic(1))
        return;
      product = std::move(*extended);
    }
    tileEpilogue = matched;
  }

  /// Passes the addend of the tiles to the call, and whether they rectify.
  void bindTileEpilogue(MatmulCall &call, ArrayRef<Value> offsets) {
    call.rectifies = tileEpilogue->rectifies;
    if (tileEpilogue->addend)
      call.addend = {product.more.back().buffer, offsets.back(), product.m.strides.back(), 1};
  }

  /// The matmul with strides for all these operands as well; fails if they do not fit its dimensions.
  FailureOr<MatmulForm> extendProduct(ArrayRef<Operand> all) {
    FailureOr<MatmulForm> extended = readMatmul(op, all);
    bool isSame = succeeded(extended) && succeeded(orient(*extended)) && extended->isSwapped == product.isSwapped &&
                  extended->m.size == product.m.size && extended->n.size == product.n.size &&
                  extended->k.size == product.k.size && extended->outer.size() == product.outer.size() &&
                  extended->outerReductions.size() == product.outerReductions.size();
    return isSame ? extended : FailureOr<MatmulForm>();
  }

  /// Calls with fewer rows, columns or terms than a tile pays off for use the loops, like matmuls of static sizes: row
  /// by row, column by column, or with a nest for each number of terms. The code after this handles all other calls.
  void leaveFewToLoops(linalg::FillOp fill) {
    if (method != MatmulMethod::Tiles || prologues[0].producer || prologues[1].producer)
      return;
    SmallVector<BoundedSize> done;
    for (auto [number, dimension] : llvm::enumerate(std::array{&product.m, &product.n, &product.k})) {
      BoundedSize size = dimension->size;
      bool isFewRows = number == 0 && fewRows > 0; // these are streamed
      std::optional<unsigned> loop = loopAlong(op, product, number);
      if (size.isStatic() || size.least() >= kLeastTiled || isFewRows || !loop || llvm::is_contained(done, size))
        continue;
      done.push_back(size);
      Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, g.index(size), g.index(kLeastTiled));
      auto branch = scf::IfOp::create(b, isFew, /*withElseRegion=*/true);
      fewBlocks.push_back(branch.thenBlock());
      b.setInsertionPointToStart(branch.thenBlock());
      if (number < 2)
        g.loop(g.index(0), g.index(size), 1, [&](Value first) { emitPart(b, op, fill, *loop, first, 1); });
      else
        emitTerms(b, op, fill, *loop, size, kLeastTiled);
      b.setInsertionPointToStart(branch.elseBlock());
      dimension->size = size.within(kLeastTiled, size.most());
    }
  }

  /// From here on k counts pairs.
  void makeDot2Operand() {
    auto factor = [](const Operand &operand, const BoundedSize &stride) {
      Type element = getElementTypeOrSelf(operand.buffer.getType());
      return Dot2Factor{element, operand.isSigned && element.isInteger(), stride.isStatic(1)};
    };
    BoundedSize terms = product.k.size;
    if (terms.isStatic()) {
      product.k.size = dot2Elements(terms.factor());
    } else {
      int64_t most =
          terms.isAtMost(std::numeric_limits<int64_t>::max() - 1) ? dot2Elements(terms.most()) : terms.most();
      product.k.size = BoundedSize(g.ceilDiv(g.index(terms), 2),
                                   {dot2Elements(terms.least()), most, 1, dot2Elements(terms.expected())});
    }
    pairing = {factor(product.a, product.k.strides[0]), factor(product.b, product.n.strides[1]), terms};
  }

  /// Decides whether threads share the outermost loop around the matmul: they do if there are many small matmuls. If an
  /// operand is packed, there are several blocks of matmuls, each with its own packing buffer.
  void planBatch() {
    if (product.outer.empty())
      return;
    const BoundedSize &size = product.outer.front().size;
    int64_t products = 1;
    for (const Dimension &dimension : llvm::drop_begin(product.outer))
      products *= dimension.size.expected();
    for (const Dimension &dimension : product.outerReductions)
      products *= dimension.size.expected();
    itemNs = double(products) *
             estimateMatmulNs(tile, product.m.size.expected(), product.n.size.expected(), product.k.size.expected());
    if (itemNs * double(size.most()) < kSharedNs || (products == 1 && itemNs > 8 * kSharedNs))
      return;
    constexpr int64_t mostBlocks = 16;
    bool needsNoBuffer = packElements() == 0 && !needsLeft();
    if (needsNoBuffer) {
      batchBlocks = size.most();
    } else if (size.isStatic()) {
      batchStep = llvm::divideCeil(size.factor(), mostBlocks);
      batchBlocks = llvm::divideCeil(size.factor(), batchStep.factor());
    } else {
      Value step = arith::MaxSIOp::create(b, g.ceilDiv(g.index(size), mostBlocks), g.index(1));
      batchStep = BoundedSize(step, {1, size.most(), 1, int64_t(llvm::divideCeil(size.expected(), mostBlocks))});
      batchBlocks = std::min(size.most(), mostBlocks);
    }
  }

  /// Like enterLoop, for a loop that threads share. Returns the number of the block, which has separate packing
  /// buffers.
  Value enterSharedLoop(const Dimension &dimension, MutableArrayRef<Value> offsets) {
    Value step = g.index(batchStep);
    auto blocks = scf::ForOp::create(b, g.index(0), g.index(dimension.size), step);
    markParallel(blocks, batchBlocks, itemNs * double(batchStep.expected()));
    b.setInsertionPointToStart(blocks.getBody());
    Value position = blocks.getInductionVar(), block = position;
    if (!batchStep.isStatic(1)) {
      block = arith::DivUIOp::create(b, position, g.index(batchStep));
      Value end = g.min(g.add(position, g.index(batchStep)), g.index(dimension.size));
      auto loop = scf::ForOp::create(b, position, end, g.index(1));
      b.setInsertionPointToStart(loop.getBody());
      position = loop.getInductionVar();
    }
    for (auto [offset, stride] : llvm::zip_equal(offsets, dimension.strides))
      offset = g.advance(offset, position, stride);
    return block;
  }

  /// Elements of one packing buffer, in whole cache lines.
  int64_t packElements() const {
    return llvm::alignTo(matmulPackElements(tile, packing, matmulBlocks, product.k.size, product.n.size), 16);
  }

  /// Whether the tiles read a copy of the left operand.
  bool needsLeft() const { return pairing || prologues[0].producer || packsLeft; }

  /// Elements of its buffer, in whole cache lines.
  BoundedSize countLeftElements() {
    BoundedSize elements =
        pairing ? product.m.size * product.k.size
                : matmulLeftElements(g, matmulBlocks, product.m.size, product.k.size, packsLeft ? tile.rows : 1);
    if (elements.isStatic())
      return int64_t(llvm::alignTo(elements.factor(), 16));
    return BoundedSize(g.ceilDiv(g.index(elements), 16), SizeFacts()) * 16;
  }

  /// Finds the prologues of the operands. Each must run once for each element, or be little work relative to the
  /// matmul.
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
      FailureOr<MatmulForm> extended = extendProduct(all);
      if (failed(extended))
        continue;
      prologues[side].producer = producer;
      for (size_t i = product.more.size(); i < all.size(); ++i) {
        const BoundedSize &row = (side == 0 ? extended->m : extended->k).strides[3 + i];
        const BoundedSize &column = (side == 0 ? extended->k : extended->n).strides[3 + i];
        prologues[side].inputs.push_back({all[i].buffer, Value(), row, column});
      }
      firstInput[side] = product.more.size();
      product = std::move(*extended);
      if (side == 1 && !makesPanels(packing))
        packing = MatmulPacking::Rows;
    }
  }

  /// Whether computing an operand by blocks pays: it is large, and no element is computed more than twice.
  bool paysToCompute(int side) const {
    constexpr int64_t leastElements = 4096, mostTimes = 2;
    int64_t m = product.m.size.expected(), n = product.n.size.expected(), k = product.k.size.expected(),
            times = side == 0 ? llvm::divideCeil(n, matmulBlocks.columns) : 1; // blocks compute it again
    for (const auto *loops : {&product.outer, &product.outerReductions})
      for (const Dimension &dimension : *loops)
        times *= dimension.strides[side].isStatic(0) ? dimension.size.expected() : 1;
    return k * (side == 0 ? m : n) >= leastElements && times <= mostTimes;
  }

  /// Passes the prologues to the call; `offsets` are those of all their inputs.
  void bindPrologues(MatmulCall &call, ArrayRef<Value> offsets) {
    for (int side : {0, 1}) {
      MatmulPrologue &prologue = prologues[side];
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

  /// Passes the addresses of the batch's next matmul to the call, which prefetches them. With small matrices, hardware
  /// prefetching is too late: 64 matmuls of 64 x 64 took a quarter longer from memory than from the cache on Zen 4, and
  /// no longer with this.
  void announceNext(MatmulCall &call, ArrayRef<Value> offsets) {
    const Dimension &m = product.m, &n = product.n, &k = product.k;
    bool isOneBlock = m.size.isStatic() && n.size.isStatic() && k.size.isStatic() &&
                      m.size.isAtMost(matmulBlocks.rows) && n.size.isAtMost(matmulBlocks.columns) &&
                      k.size.isAtMost(matmulBlocks.depth);
    if (method != MatmulMethod::Tiles || packing != MatmulPacking::InPlace || needsLeft() || prologues[1].producer ||
        !isOneBlock || product.outer.empty() || !product.outerReductions.empty() || tile.vectors == 1)
      return;
    int64_t terms = llvm::divideCeil(m.size.factor(), tile.rows) * llvm::divideCeil(n.size.factor(), tile.columns()) *
                    k.size.factor();
    if (terms == 0)
      return;
    const Dimension *sides[][2] = {{&m, &k}, {&k, &n}, {&m, &n}};
    const Operand *operands[] = {&product.a, &product.b, &product.c};
    SmallVector<MatmulAhead, 3> ahead;
    bool fetches = false;
    for (auto [i, side] : llvm::enumerate(sides)) {
      const BoundedSize &distance = product.outer.back().strides[i];
      int64_t elements = side[0]->size.factor() * side[1]->size.factor();
      bool isDense = llvm::any_of(llvm::seq(0, 2), [i = i, side = side](int inner) {
        return side[inner]->strides[i].isStatic(1) && side[1 - inner]->strides[i].isStatic(side[inner]->size.factor());
      });
      int64_t step = llvm::divideCeil(elements, terms), bytes = element.getIntOrFloatBitWidth() / 8;
      bool isWorthIt = isDense && distance.isStatic() && distance.factor() >= elements && step * bytes <= kLineBytes &&
                       elements * bytes >= kLeastAhead;
      fetches |= isWorthIt;
      // If it does not pay, the address is always the same line.
      ahead.push_back(
          {operands[i]->buffer, isWorthIt ? g.add(offsets[i], distance.factor()) : offsets[i], isWorthIt ? step : 0});
    }
    if (fetches)
      call.ahead = std::move(ahead);
  }

  Value offsetOf(const Operand &operand) {
    if (!ShapedType::isDynamic(operand.offset))
      return g.index(operand.offset);
    return memref::ExtractStridedMetadataOp::create(b, operand.buffer).getOffset();
  }

  /// Enters the body of a loop over `dimension`, with the operands' offsets advanced. Returns the position in it.
  Value enterLoop(const Dimension &dimension, MutableArrayRef<Value> offsets) {
    auto loop = scf::ForOp::create(b, g.index(0), g.index(dimension.size), g.index(1));
    b.setInsertionPointToStart(loop.getBody());
    for (auto [offset, stride] : llvm::zip_equal(offsets, dimension.strides))
      offset = g.advance(offset, loop.getInductionVar(), stride);
    return loop.getInductionVar();
  }

  /// The buffer for the packed block, allocated in a block that array-plan-memory supports.
  Value packBuffer() {
    if (needsLeft())
      leftBuffer = allocate([&] { return leftElements = countLeftElements(); });
    int64_t elements = packElements();
    return elements == 0 ? Value() : allocate([&] { return BoundedSize(elements); });
  }

  /// For the sums of blocks of depth.
  Value depthSumsBuffer(int64_t blocks) {
    return allocate([&] {
      BoundedSize sums = product.m.size * product.n.size * blocks;
      if (sums.isStatic())
        return BoundedSize(sums.factor() + kStreamSumsOffset);
      return BoundedSize(g.add(g.index(sums), kStreamSumsOffset), SizeFacts());
    });
  }

  /// A buffer of `count()` elements for each block of the batch.
  Value allocate(llvm::function_ref<BoundedSize()> count) {
    OpBuilder::InsertionGuard guard(b);
    auto function = op->getParentOfType<func::FuncOp>();
    if (op->getParentOp() != function)
      setInsertionPointAfterSizes(function);
    BoundedSize elements = count() * batchBlocks;
    SmallVector<Value> sizes;
    if (!elements.isStatic())
      sizes.push_back(g.index(elements));
    return memref::AllocOp::create(b, MemRefType::get({elements.inType()}, element), sizes, b.getI64IntegerAttr(64));
  }

  /// At the function's start, or after the definitions of the matmul's sizes.
  void setInsertionPointAfterSizes(func::FuncOp function) {
    Block &entry = function.getBody().front();
    b.setInsertionPointToStart(&entry);
    for (const BoundedSize &size : {product.m.size, product.n.size, product.k.size})
      for (Value symbol : size.symbols())
        if (Operation *source = symbol.getDefiningOp())
          if (b.getInsertionPoint() == entry.end() || !source->isBeforeInBlock(&*b.getInsertionPoint()))
            b.setInsertionPointAfter(source);
  }

  ImplicitLocOpBuilder b;
  MatmulBuilder g;
  linalg::LinalgOp op;
  MatmulForm &product;
  MatmulMethod method;
  Type element;
  MatmulTile tile;
  MatmulPacking packing;
  MatmulBlocks matmulBlocks;
  int64_t fewRows;
  bool packsLeft;
  std::optional<Dot2Operands> pairing;
  std::optional<TileEpilogue> tileEpilogue; ///< its addend, if any, is the last one of product.more
  MatmulPrologue prologues[2];              ///< of the left and the right operand
  size_t firstInput[2] = {0, 0};            ///< of theirs in product.more
  SmallVector<Block *> fewBlocks;           ///< of the calls that use loops
  Value leftBuffer;
  BoundedSize leftElements = 0; ///< its part for one block of the batch
  BoundedSize batchStep = 1;
  int64_t batchBlocks = 1;
  double itemNs = 0;
};

} // namespace

void emitContraction(linalg::LinalgOp op, MatmulForm &product, const MatmulSchedule &schedule, Type element) {
  CallEmitter(op, product, schedule, element).emit();
}

} // namespace mlir::array

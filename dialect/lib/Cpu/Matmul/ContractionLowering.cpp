// Replaces one contraction by its matmul (ContractionLowering.h), with its prologues and epilogue, in loops over the
// remaining dimensions, with its buffers.
#include "ContractionLowering.h"
#include "Analysis/ParallelLoops.h"
#include "ContractionPlan.h"
#include "MatmulParts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

namespace {

class CallEmitter {
public:
  CallEmitter(ImplicitLocOpBuilder &b, linalg::LinalgOp op, const ContractionPlan &plan)
      : b(b), g(b), op(op), plan(plan), schedule(plan.schedule), product(plan.product) {}

  void emit() {
    Value packed = packBuffer();
    Value depthSums = plan.depthBlocks > 1 ? depthSumsBuffer(plan.depthBlocks) : Value();
    Value accumulate = arith::ConstantIntOp::create(b, plan.fill ? 0 : 1, 1);
    SmallVector<Value> offsets;
    for (const Operand *operand : {&product.a, &product.b, &product.c})
      offsets.push_back(offsetOf(*operand));
    for (const Operand &operand : product.more)
      offsets.push_back(offsetOf(operand));
    leaveFewToLoops();
    Value block = g.index(0);
    for (const Dimension &dimension : product.outer) {
      if (&dimension == product.outer.begin() && plan.batch.isShared())
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
    MatmulCall call{plan.element, schedule.tile, schedule.packing, schedule.blocks, m.size, n.size,    k.size,
                    left,         right,         result,           packed,          {},     accumulate};
    call.packOffset = g.mul(block, plan.packElements());
    call.pairing = plan.pairing;
    call.leftBuffer = leftBuffer;
    call.leftOffset = g.mul(block, leftElements);
    call.packsLeft = schedule.packsLeft;
    call.depthBlocks = plan.depthBlocks;
    call.depthSums = depthSums;
    bindPrologues(call, ArrayRef(offsets).drop_front(3));
    bindAhead(call, offsets);
    if (plan.epilogue.isOnBlocks)
      call.finish = [&](Value row, Value rows, Value column, Value width) {
        emitEpilogueBlock(b, plan.epilogue.op, row, rows, column, width);
      };
    if (plan.epilogue.inTiles)
      bindTileEpilogue(call, offsets);
    emitCall(call);
    if (call.finish)
      for (Block *few : fewBlocks) {
        b.setInsertionPoint(few->getTerminator());
        call.finish(g.index(0), g.index(m.size), g.index(0), g.index(n.size));
      }
    eraseReplaced();
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
    if (schedule.method == MatmulMethod::Stream)
      return emitStream(b, module, call);
    int64_t few = call.produceLeft || call.produceRight ? 0 : schedule.fewRows;
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
    if (plan.epilogue.inTiles)
      call.finish = {};
    emitMatmul(b, module, call);
  }

  /// Passes the addend of the tiles to the call, and whether they rectify.
  void bindTileEpilogue(MatmulCall &call, ArrayRef<Value> offsets) {
    call.rectifies = plan.epilogue.inTiles->rectifies;
    if (plan.epilogue.inTiles->addend)
      call.addend = {product.more.back().buffer, offsets.back(), product.m.strides.back(), 1};
  }

  /// Calls with fewer rows, columns or terms than a tile pays off for use the loops, like matmuls of static sizes: row
  /// by row, column by column, or with a nest for each number of terms. The code after this handles all other calls.
  void leaveFewToLoops() {
    if (schedule.method != MatmulMethod::Tiles || plan.hasPrologue(0) || plan.hasPrologue(1))
      return;
    SmallVector<BoundedSize> done;
    for (auto [number, dimension] : llvm::enumerate(std::array{&product.m, &product.n, &product.k})) {
      BoundedSize size = dimension->size;
      bool isFewRows = number == 0 && schedule.fewRows > 0; // these are streamed
      std::optional<unsigned> loop = loopAlong(op, product, number);
      if (size.isStatic() || size.least() >= kLeastTiled || isFewRows || !loop || llvm::is_contained(done, size))
        continue;
      done.push_back(size);
      Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, g.index(size), g.index(kLeastTiled));
      auto branch = scf::IfOp::create(b, isFew, /*withElseRegion=*/true);
      fewBlocks.push_back(branch.thenBlock());
      b.setInsertionPointToStart(branch.thenBlock());
      if (number < 2)
        g.loop(g.index(0), g.index(size), 1, [&](Value first) { emitPart(b, op, plan.fill, *loop, first, 1); });
      else
        emitTerms(b, op, plan.fill, *loop, size, kLeastTiled);
      b.setInsertionPointToStart(branch.elseBlock());
      dimension->size = size.within(kLeastTiled, size.most());
    }
  }

  /// Like enterLoop, for a loop that threads share. Returns the number of the block, which has separate packing
  /// buffers.
  Value enterSharedLoop(const Dimension &dimension, MutableArrayRef<Value> offsets) {
    const BatchPlan &batch = plan.batch;
    Value step = g.index(batch.step);
    auto blocks = scf::ForOp::create(b, g.index(0), g.index(dimension.size), step);
    markParallel(blocks, batch.blocks, batch.itemNs * double(batch.step.expected()));
    b.setInsertionPointToStart(blocks.getBody());
    Value position = blocks.getInductionVar(), block = position;
    if (!batch.step.isStatic(1)) {
      block = arith::DivUIOp::create(b, position, g.index(batch.step));
      Value end = g.min(g.add(position, g.index(batch.step)), g.index(dimension.size));
      auto loop = scf::ForOp::create(b, position, end, g.index(1));
      b.setInsertionPointToStart(loop.getBody());
      position = loop.getInductionVar();
    }
    for (auto [offset, stride] : llvm::zip_equal(offsets, dimension.strides))
      offset = g.advance(offset, position, stride);
    return block;
  }

  /// Elements of the copy of the left operand, in whole cache lines.
  BoundedSize countLeftElements() {
    BoundedSize elements = plan.pairing ? product.m.size * product.k.size
                                        : matmulLeftElements(g, schedule.blocks, product.m.size, product.k.size,
                                                             schedule.packsLeft ? schedule.tile.rows : 1);
    if (elements.isStatic())
      return int64_t(llvm::alignTo(elements.factor(), 16));
    return BoundedSize(g.ceilDiv(g.index(elements), 16), SizeFacts()) * 16;
  }

  /// Passes the prologues to the call; `offsets` are those of all further operands.
  void bindPrologues(MatmulCall &call, ArrayRef<Value> offsets) {
    for (int side : {0, 1}) {
      if (!plan.hasPrologue(side))
        continue;
      MatmulPrologue &prologue = prologues[side] = plan.prologues[side].prologue;
      for (auto [i, input] : llvm::enumerate(prologue.inputs))
        input.offset = offsets[plan.prologues[side].firstInput + i];
      (side == 0 ? call.produceLeft : call.produceRight) = [this, &prologue](Value row, Value column, Value rows,
                                                                             Value columns, Value target) {
        emitPrologueBlock(b, prologue, row, column, rows, columns, target);
      };
    }
  }

  /// Passes the addresses of the batch's next matmul to the call. An operand that is not prefetched has the address of
  /// the present one: always the same line.
  void bindAhead(MatmulCall &call, ArrayRef<Value> offsets) {
    if (!plan.ahead)
      return;
    const Operand *operands[] = {&product.a, &product.b, &product.c};
    for (auto [operand, offset, ahead] : llvm::zip(operands, offsets, *plan.ahead))
      call.ahead.push_back({operand->buffer, ahead.step > 0 ? g.add(offset, ahead.distance) : offset, ahead.step});
  }

  /// Erases the operations that the code of the matmul replaces.
  void eraseReplaced() {
    if (plan.fill)
      linalg::FillOp(plan.fill).erase();
    if (plan.epilogue.isFused())
      linalg::GenericOp(plan.epilogue.op).erase();
    op->erase();
    for (const ProloguePlan &each : plan.prologues)
      if (each.prologue.producer)
        erasePrologue(each.prologue.producer);
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
    if (plan.copiesLeft())
      leftBuffer = allocate([&] { return leftElements = countLeftElements(); });
    int64_t elements = plan.packElements();
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
    BoundedSize elements = count() * plan.batch.blocks;
    SmallVector<Value> sizes;
    if (!elements.isStatic())
      sizes.push_back(g.index(elements));
    return memref::AllocOp::create(b, MemRefType::get({elements.inType()}, plan.element), sizes,
                                   b.getI64IntegerAttr(64));
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

  ImplicitLocOpBuilder &b;
  MatmulBuilder g;
  linalg::LinalgOp op;
  const ContractionPlan &plan;
  const MatmulSchedule &schedule;
  MatmulForm product;             ///< the plan's, without the sizes that loops compute
  MatmulPrologue prologues[2];    ///< the plan's, with the offsets of their inputs
  SmallVector<Block *> fewBlocks; ///< of the calls that use loops
  Value leftBuffer;
  BoundedSize leftElements = 0; ///< its part for one block of the batch
};

} // namespace

void emitContraction(linalg::LinalgOp op, const MatmulForm &product, const MatmulSchedule &schedule, Type element) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  ContractionPlan plan = planContraction(b, op, product, schedule, element);
  CallEmitter(b, op, plan).emit();
}

} // namespace mlir::array

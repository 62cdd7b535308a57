// array-reuse-buffers: an elementwise op overwrites an operand without later reads, a temporary that ends where a
// result, or a part of one, begins uses that memory, and an elementwise op on a matmul's result moves right after the
// matmul. Runs after array-lower-matmuls, which needs the operands of a matmul and of its epilogue in separate memory.
// array-vectorize-linalg and array-plan-memory follow.
#include "Analysis/BufferUses.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Bufferize/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::array {

#define GEN_PASS_DEF_REUSEBUFFERS
#include "array/Bufferize/Passes.h.inc"

namespace {

/// An operation that reads each element of `input` right before it writes the same element of `output`, for all
/// elements.
struct Transfer {
  Operation *op;
  OpOperand *input;
  OpOperand *output;
};

/// Whether the loops of an op visit each element of the map's range once.
bool visitsOnce(linalg::LinalgOp op, AffineMap map) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return map.isProjectedPermutation() && llvm::all_of(llvm::seq<unsigned>(0, op.getNumLoops()), [&](unsigned loop) {
           return ranges[loop] == 1 || map.isFunctionOfDim(loop);
         });
}

/// Whether the op runs over short rows that end within a vector, because an operand has one element for each row. In
/// place, the load of a row would wait for the masked store of the row before: their vectors overlap in memory, if not
/// in lanes.
bool hasRaggedRows(linalg::LinalgOp op, OpOperand &output) {
  constexpr int64_t vectorBytes = 64, shortBytes = 4 * vectorBytes;
  auto type = cast<MemRefType>(output.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&output);
  if (type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1) || !type.getElementType().isIntOrFloat() ||
      !isa<AffineDimExpr>(map.getResults().back()))
    return false;
  int64_t bytes = type.getShape().back() * type.getElementTypeBitWidth() / 8;
  unsigned column = cast<AffineDimExpr>(map.getResults().back()).getPosition();
  return bytes < shortBytes && bytes % vectorBytes != 0 &&
         llvm::any_of(
             op.getDpsInputOperands(),
             [&](OpOperand *input) {
               return isa<MemRefType>(input->get().getType()) && op.getMatchingIndexingMap(input).getNumResults() > 0 &&
                      !op.getMatchingIndexingMap(input).isFunctionOfDim(column);
             });
}

/// All pairs of an operand that an op may overwrite and the output that may use its memory.
SmallVector<Transfer> transfersOf(Operation *op) {
  SmallVector<Transfer> found;
  if (isa<memref::CopyOp>(op)) {
    found.push_back({op, &op->getOpOperand(0), &op->getOpOperand(1)});
    return found;
  }
  // This routine reads all of an operand before it writes its result.
  if (auto call = dyn_cast<RuntimeCallOp>(op); call && call.getNameAttr() == "sort") {
    unsigned count = call.getIns().size();
    for (unsigned i = 0; i < count; ++i)
      found.push_back({op, &op->getOpOperand(i), &op->getOpOperand(count + i)});
    return found;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureBufferSemantics() || linalgOp.getNumReductionLoops() != 0)
    return found;
  for (OpOperand &output : linalgOp.getDpsInitsMutable()) {
    AffineMap map = linalgOp.getMatchingIndexingMap(&output);
    if (!linalgOp.getMatchingBlockArgument(&output).use_empty() || !visitsOnce(linalgOp, map) ||
        hasRaggedRows(linalgOp, output))
      continue;
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      if (linalgOp.getMatchingIndexingMap(input) == map)
        found.push_back({op, input, &output});
  }
  return found;
}

/// The buffer that a value covers completely, perhaps with other sizes; null for a part of one.
Value wholeBuffer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.getLayout().isIdentity() ? value : Value();
}

/// Whether one operand alone touches the memory of `buffer` in the op.
bool touchesOnly(Operation *op, Value buffer, OpOperand *self) {
  auto isBuffer = [&](Value value) { return isa<MemRefType>(value.getType()) && viewedBuffer(value) == buffer; };
  for (OpOperand &operand : op->getOpOperands())
    if (isBuffer(operand.get()) && &operand != self)
      return false;
  return !op->walk([&](Operation *inner) {
              bool touches = inner != op && llvm::any_of(inner->getOperands(), isBuffer);
              return touches ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

/// Another operand that reads the same elements in the same order is allowed.
bool readsOnlyInOrder(const Transfer &transfer, Value buffer) {
  auto op = dyn_cast<linalg::LinalgOp>(transfer.op);
  if (!op)
    return touchesOnly(transfer.op, buffer, transfer.input);
  for (OpOperand &operand : transfer.op->getOpOperands()) {
    if (&operand == transfer.input || !isa<MemRefType>(operand.get().getType()) ||
        viewedBuffer(operand.get()) != buffer)
      continue;
    if (op.isDpsInit(&operand) || operand.get() != transfer.input->get() ||
        op.getMatchingIndexingMap(&operand) != op.getMatchingIndexingMap(transfer.input))
      return false;
  }
  return !transfer.op
              ->walk([&](memref::LoadOp load) {
                return viewedBuffer(load.getMemRef()) == buffer ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Whether two buffers visibly have the same sizes: equal sizes of allocations are the same value (SymbolicSizes.h).
bool haveSameSizes(memref::AllocOp from, Value place, SymbolicSizes *sizes) {
  if (place.getType() != from.getType())
    return false;
  return from.getType().hasStaticShape() ||
         llvm::all_of(llvm::seq<unsigned>(0, from.getType().getRank()), [&](unsigned dim) {
           OpFoldResult size = sizes->sizeOf(from, dim);
           return size && size == sizes->sizeOf(place, dim);
         });
}

/// Replaces all uses of `from` by `place`.
void replace(memref::AllocOp from, Value place, SymbolicSizes *sizes) {
  OpBuilder builder(from);
  if (!haveSameSizes(from, place, sizes)) {
    // Row-major, in the sizes of `from`.
    MemRefType type = from.getType();
    Location loc = from.getLoc();
    SmallVector<OpFoldResult> shape;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      shape.push_back(type.isDynamicDim(dim) ? OpFoldResult(from.getDynamicSizes()[type.getDynamicDimIndex(dim)])
                                             : OpFoldResult(builder.getIndexAttr(type.getDimSize(dim))));
    SmallVector<OpFoldResult> strides = memref::computeStridesIRBlock(loc, builder, shape);
    place = memref::ReinterpretCastOp::create(builder, loc, type, place, builder.getIndexAttr(0), shape, strides);
  }
  from.replaceAllUsesWith(place);
  from.erase();
}

/// Moves an allocation up to another one; its sizes must be available there.
bool moveUpTo(memref::AllocOp alloc, Operation *place) {
  bool isKnown = llvm::all_of(alloc->getOperands(), [&](Value size) {
    Operation *op = size.getDefiningOp();
    return !op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place);
  });
  if (isKnown)
    alloc->moveBefore(place);
  return isKnown;
}

struct Reuse {
  SymbolicSizes *sizes;

  void run(Block &block) {
    SmallVector<Operation *> copies;
    for (Operation &op : llvm::make_early_inc_range(block))
      followProduct(block, op);
    for (Operation &op : block) {
      for (Transfer &transfer : transfersOf(&op))
        overwriteInput(block, transfer);
      if (auto copy = dyn_cast<memref::CopyOp>(op); copy &&
                                                    viewedBuffer(copy.getSource()) == viewedBuffer(copy.getTarget()) &&
                                                    wholeBuffer(copy.getSource()) && wholeBuffer(copy.getTarget()))
        copies.push_back(copy);
    }
    for (Operation *copy : copies)
      copy->erase();
  }

  /// Moves an elementwise op on a matmul's result right after the matmul: then its input is in the cache, and soon free
  /// for reuse.
  static void followProduct(Block &block, Operation &op) {
    if (isa<RuntimeCallOp>(op))
      return;
    for (const Transfer &transfer : transfersOf(&op)) {
      Value input = viewedBuffer(transfer.input->get());
      if (!input.getDefiningOp<memref::AllocOp>())
        continue;
      BlockUses uses = usesIn(block, input);
      if (!uses.isLocal || uses.last != &op)
        continue;
      Operation *last = nullptr;
      for (Value view : viewsOf(input))
        for (Operation *user : view.getUsers())
          if (Operation *inBlock = block.findAncestorOpInBlock(*user); inBlock && inBlock != &op &&
                                                                       !isa<ViewLikeOpInterface>(inBlock) &&
                                                                       (!last || last->isBeforeInBlock(inBlock)))
            last = inBlock;
      if (!last || isa<linalg::LinalgOp, memref::CopyOp>(last) || last->getNextNode() == &op || !canMoveAfter(op, last))
        continue;
      op.moveAfter(last);
      return;
    }
  }

  static bool canMoveAfter(Operation &op, Operation *last) {
    auto isOutput = [&](Value value) {
      return isa<memref::CopyOp>(op) ? value == op.getOperand(1)
                                     : llvm::is_contained(cast<linalg::LinalgOp>(op).getDpsInits(), value);
    };
    auto isThere = [&](Value value) {
      Operation *definition = value.getDefiningOp();
      return !definition || definition->getBlock() != op.getBlock() || !last->isBeforeInBlock(definition);
    };
    // A body may use scalars from outside that are not operands.
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    if (!llvm::all_of(captured, isThere))
      return false;
    for (Value operand : op.getOperands()) {
      if (!isThere(operand))
        return false;
      if (!isa<MemRefType>(operand.getType()))
        continue;
      Value buffer = viewedBuffer(operand);
      if (!isMemoryOfItsOwn(buffer))
        return false;
      for (Operation *between = last->getNextNode(); between != &op; between = between->getNextNode())
        if (isOutput(operand) ? mayUseMemory(between, buffer) : mayWriteMemory(between, buffer))
          return false;
    }
    return llvm::all_of(op.getRegions(), [&](Region &region) {
      return !region.walk([&](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
    });
  }

  /// The output is a temporary that starts at this op, and the operand a temporary that ends at it.
  void overwriteInput(Block &block, const Transfer &transfer) {
    if (auto part = transfer.output->get().getDefiningOp<memref::SubViewOp>())
      return computeInPart(block, transfer, part);
    auto [input, output] = buffersOf(transfer);
    if (output && isa<BlockArgument>(output) && isMemoryOfItsOwn(output))
      return computeInResult(block, transfer, input, output);
    auto from = output ? output.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
    auto place = input ? input.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
    if (!from || !place || from == place || from->getBlock() != &block || place->getBlock() != &block)
      return;
    BlockUses before = usesIn(block, place), after = usesIn(block, from);
    if (!before.isLocal || !after.isLocal || before.last != transfer.op || after.first != transfer.op ||
        !touchesOnly(transfer.op, from, transfer.output) || !readsOnlyInOrder(transfer, place))
      return;
    if (from->isBeforeInBlock(place) && !moveUpTo(place, from))
      return;
    replace(from, place, sizes);
  }

  /// The operand is a temporary that ends at this op, and the output a result that is not used before.
  void computeInResult(Block &block, const Transfer &transfer, Value input, Value output) {
    auto from = input ? input.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
    if (!from || from->getBlock() != &block)
      return;
    BlockUses before = usesIn(block, from), after = usesIn(block, output);
    if (before.isLocal && after.isLocal && before.last == transfer.op && after.first == transfer.op &&
        touchesOnly(transfer.op, output, transfer.output) && readsOnlyInOrder(transfer, from))
      replace(from, output, sizes);
  }

  /// The operand is a temporary that ends at this op, and the output a part of a buffer: a block of a kernel's output,
  /// or a row of a loop's result. Nothing else uses the buffer during the life of the temporary.
  static void computeInPart(Block &block, const Transfer &transfer, memref::SubViewOp part) {
    auto from = transfer.input->get().getDefiningOp<memref::AllocOp>();
    if (!from || from->getBlock() != &block || part->getBlock() != &block || !from.getType().hasStaticShape() ||
        from.getType().getShape() != part.getType().getShape() ||
        from.getType().getElementType() != part.getType().getElementType() ||
        !llvm::all_of(from->getUsers(), [&](Operation *user) {
          return user->getBlock() == &block && isa<linalg::LinalgOp, memref::CopyOp>(user);
        }))
      return;
    Value buffer = viewedBuffer(part);
    BlockUses uses = usesIn(block, from);
    if (!isMemoryOfItsOwn(buffer) || !uses.isLocal || uses.last != transfer.op || uses.first == transfer.op ||
        !touchesOnly(transfer.op, buffer, transfer.output) || !readsOnlyInOrder(transfer, from))
      return;
    for (Operation *op = uses.first; op != transfer.op; op = op->getNextNode())
      if (!isa<ViewLikeOpInterface>(op) && mayUseMemory(op, buffer))
        return;
    bool isKnown = llvm::all_of(part->getOperands(), [&](Value operand) {
      Operation *op = operand.getDefiningOp();
      return !op || op->getBlock() != &block || op->isBeforeInBlock(uses.first);
    });
    if (!isKnown)
      return;
    if (uses.first->isBeforeInBlock(part))
      part->moveBefore(uses.first);
    from.replaceAllUsesWith(part.getResult());
    from.erase();
  }

  /// The whole buffers of both, if their layouts are equal.
  static std::pair<Value, Value> buffersOf(const Transfer &transfer) {
    auto in = dyn_cast<MemRefType>(transfer.input->get().getType());
    if (!in || in != transfer.output->get().getType())
      return {};
    return {wholeBuffer(transfer.input->get()), wholeBuffer(transfer.output->get())};
  }
};

struct ReuseBuffers : impl::ReuseBuffersBase<ReuseBuffers> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    llvm::SetVector<Block *> blocks;
    function.walk([&](memref::AllocOp alloc) { blocks.insert(alloc->getBlock()); });
    std::optional<SymbolicSizes> sizes;
    if (!blocks.empty())
      sizes.emplace(function);
    for (Block *block : blocks)
      Reuse{sizes ? &*sizes : nullptr}.run(*block);
  }
};

} // namespace
} // namespace mlir::array

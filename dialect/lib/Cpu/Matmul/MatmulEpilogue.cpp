// Finds the epilogue of a matmul, joins their memory, and emits it block by block (MatmulEpilogue.h).
#include "MatmulEpilogue.h"
#include "Analysis/ContractionForm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array {

namespace {

bool isElementwise(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 && op.hasPureBufferSemantics() && op.getNumReductionLoops() == 0 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty() &&
         llvm::all_of(*op.getBody(), [](Operation &nested) { return isMemoryEffectFree(&nested); });
}

/// The only reader of the buffer after `product`, if it is elementwise, and all other users come before and fill the
/// buffer.
linalg::GenericOp findReader(linalg::LinalgOp product, memref::AllocOp buffer) {
  linalg::GenericOp reader;
  for (OpOperand &use : buffer->getUses()) {
    Operation *user = use.getOwner();
    if (user->getBlock() != product->getBlock())
      return {};
    if (user == product || (isa<linalg::FillOp>(user) && user->isBeforeInBlock(product)))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic || reader || !product->isBeforeInBlock(user) || !generic.isDpsInput(&use) || !isElementwise(generic) ||
        !generic.getMatchingIndexingMap(&use).isPermutation())
      return {};
    reader = generic;
  }
  return reader;
}

AffineMap mapOf(linalg::GenericOp op, Value operand) {
  return op.getMatchingIndexingMap(
      llvm::find_if(op->getOpOperands(), [&](OpOperand &other) { return other.get() == operand; }));
}

bool isZero(Value value) { return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()); }

/// x, if the value is a max(x, 0) that propagates NaN and turns -0 into 0; else null.
Value rectifiedBy(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxSIOp>(op))
    for (int zero : {0, 1})
      if (isZero(op->getOperand(zero)))
        return op->getOperand(1 - zero);
  auto select = dyn_cast_or_null<arith::SelectOp>(op);
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare || !isZero(compare.getRhs()))
    return {};
  Value kept = compare.getLhs(), first = select.getTrueValue(), second = select.getFalseValue();
  bool isChosen = compare.getPredicate() == arith::CmpFPredicate::OLE   ? isZero(first) && second == kept
                  : compare.getPredicate() == arith::CmpFPredicate::UGT ? first == kept && isZero(second)
                                                                        : false;
  return isChosen ? kept : Value();
}

void setMap(linalg::GenericOp op, unsigned operand, AffineMap map) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand] = map;
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

} // namespace

linalg::GenericOp findEpilogue(linalg::LinalgOp product) {
  auto buffer = product.getDpsInits().front().getDefiningOp<memref::AllocOp>();
  return buffer ? findReader(product, buffer) : linalg::GenericOp();
}

void storeInOrderOfReader(linalg::GenericOp product, llvm::function_ref<bool()> isGood) {
  OpOperand *sums = product.getDpsInitOperand(0);
  auto alloc = sums->get().getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().getLayout().isIdentity() || !elementsOf(alloc))
    return;
  linalg::GenericOp reader = findReader(product, alloc);
  AffineMap order = reader ? mapOf(reader, alloc) : AffineMap();
  if (!reader || order.isIdentity())
    return;
  // Element d of the reader is element order(d) of the matmul's result. After this, both are d.
  AffineMap stored = product.getMatchingIndexingMap(sums);
  SmallVector<int64_t> dims;
  for (AffineExpr dim : inversePermutation(order).getResults())
    dims.push_back(cast<AffineDimExpr>(dim).getPosition());
  OpBuilder b(alloc);
  memref::AllocOp ordered = allocateOrdered(b, alloc, dims);
  sums->set(ordered);
  setMap(product, sums->getOperandNumber(), inversePermutation(order).compose(stored));
  if (!isGood()) {
    sums->set(alloc);
    setMap(product, sums->getOperandNumber(), stored);
    ordered.erase();
    return;
  }
  for (OpOperand *operand : reader.getDpsInputOperands())
    if (operand->get() == alloc)
      setMap(reader, operand->getOperandNumber(),
             AffineMap::getMultiDimIdentityMap(order.getNumDims(), b.getContext()));
  alloc->replaceAllUsesWith(ValueRange(ordered));
  alloc.erase();
}

bool isCopy(linalg::GenericOp op) {
  auto yielded = dyn_cast<BlockArgument>(op.getBody()->getTerminator()->getOperand(0));
  return llvm::hasSingleElement(*op.getBody()) && yielded && yielded.getArgNumber() == 0;
}

linalg::GenericOp takeEpilogue(linalg::LinalgOp product) {
  Value sums = product.getDpsInits().front();
  linalg::GenericOp reader = findEpilogue(product);
  if (!reader || !mapOf(reader, sums).isIdentity())
    return {};
  auto buffer = sums.getDefiningOp<memref::AllocOp>();
  Value result = reader.getDpsInits().front();
  auto alloc = result.getDefiningOp<memref::AllocOp>();
  bool isThere = alloc ? alloc->getBlock() == product->getBlock() : isa<BlockArgument>(result);
  auto isRead = [&](linalg::LinalgOp op) {
    return llvm::any_of(op.getDpsInputs(), [&](Value operand) {
      return isa<MemRefType>(operand.getType()) && mayOverlap(operand, result);
    });
  };
  if (result.getType() != sums.getType() || !isThere || isRead(product) || isRead(reader))
    return {};
  Operation *first = product;
  for (Operation *user : buffer->getUsers())
    if (user->isBeforeInBlock(first))
      first = user;
  for (Operation *op = first; op != reader; op = op->getNextNode())
    if (op != product && mayTouch(op, result))
      return {};
  if (alloc && first->isBeforeInBlock(alloc)) {
    for (Value size : alloc.getDynamicSizes())
      if (Operation *source = size.getDefiningOp(); source && !source->isBeforeInBlock(first))
        return {};
    alloc->moveBefore(first);
  }
  buffer->replaceAllUsesWith(ValueRange(result));
  buffer->erase();
  return reader;
}

bool canMoveEpilogue(linalg::GenericOp epilogue, linalg::LinalgOp product) {
  auto isThere = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != product->getBlock() || op->isBeforeInBlock(product);
  };
  bool hasIndices = llvm::any_of(*epilogue.getBody(), [&](Operation &nested) {
    return isa<linalg::IndexOp>(nested) || nested.getNumRegions() > 0 || !llvm::all_of(nested.getOperands(), isThere);
  });
  if (hasIndices)
    return false;
  for (OpOperand &operand : epilogue->getOpOperands()) {
    if (!isThere(operand.get()) || !epilogue.getMatchingIndexingMap(&operand).isProjectedPermutation())
      return false;
    if (isa<MemRefType>(operand.get().getType()))
      for (Operation *op = product->getNextNode(); op != epilogue; op = op->getNextNode())
        if (mayTouch(op, operand.get()))
          return false;
  }
  return true;
}

bool canBlockEpilogue(linalg::GenericOp epilogue, linalg::LinalgOp product) {
  return epilogue.getNumLoops() == 2 && canMoveEpilogue(epilogue, product);
}

std::optional<TileEpilogue> matchTileEpilogue(linalg::GenericOp epilogue, Value sums) {
  TileEpilogue result;
  Value value = epilogue.getBody()->getTerminator()->getOperand(0);
  if (Value rectified = rectifiedBy(value)) {
    result.rectifies = true;
    value = rectified;
  }
  auto operandOf = [&](Value of) -> OpOperand * {
    auto argument = dyn_cast<BlockArgument>(of);
    bool isOperand = argument && argument.getOwner() == epilogue.getBody();
    return isOperand ? epilogue.getMatchingOpOperand(argument) : nullptr;
  };
  auto isSum = [&](OpOperand *operand) { return operand && operand->get() == sums; };
  if (Operation *op = value.getDefiningOp(); isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op)) {
    OpOperand *left = operandOf(op->getOperand(0)), *right = operandOf(op->getOperand(1));
    result.addend = isSum(left) ? right : left;
    bool isMatrix = result.addend && !isSum(result.addend) && isa<MemRefType>(result.addend->get().getType());
    return isMatrix && (isSum(left) || isSum(right)) ? std::optional(result) : std::nullopt;
  }
  return result.rectifies && isSum(operandOf(value)) ? std::optional(result) : std::nullopt;
}

void emitEpilogueBlock(ImplicitLocOpBuilder &b, linalg::GenericOp epilogue, Value row, Value rows, Value column,
                       Value width) {
  OpFoldResult starts[] = {getAsOpFoldResult(row), getAsOpFoldResult(column)};
  OpFoldResult sizes[] = {getAsOpFoldResult(rows), getAsOpFoldResult(width)};
  Operation *block = b.clone(*epilogue);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(block);
  for (OpOperand &operand : epilogue->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    SmallVector<OpFoldResult> offsets, extents;
    for (AffineExpr expr : epilogue.getMatchingIndexingMap(&operand).getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      offsets.push_back(starts[loop]);
      extents.push_back(sizes[loop]);
    }
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    Value part = memref::SubViewOp::create(b, operand.get(), offsets, extents, strides);
    block->setOperand(operand.getOperandNumber(), part);
  }
}

} // namespace mlir::array

// The scalar part of array-in-place-carries: values without dimensions are carried, selected and computed in registers.
#include "InPlaceCarries.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array::prepare {

namespace {

bool isScalarTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

//===--- Scalars of the carry -------------------------------------------------------------------------------------===//

Type scalarOf(Type type) { return isScalarTensor(type) ? cast<RankedTensorType>(type).getElementType() : type; }

SmallVector<Type> scalarsOf(TypeRange types) { return llvm::map_to_vector(types, scalarOf); }

/// Replaces tensors without dimensions among an op's operands by their elements.
void extractScalars(RewriterBase &rewriter, MutableOperandRange operands) {
  rewriter.setInsertionPoint(operands.getOwner());
  for (OpOperand &operand : operands)
    if (isScalarTensor(operand.get().getType()))
      operand.set(tensor::ExtractOp::create(rewriter, operand.getOwner()->getLoc(), operand.get(), ValueRange()));
}

/// Makes scalars of a block's arguments, and tensors of the scalars for its body.
void takeScalars(RewriterBase &rewriter, Block &block) {
  rewriter.setInsertionPointToStart(&block);
  for (BlockArgument argument : block.getArguments()) {
    Type type = argument.getType();
    if (!isScalarTensor(type))
      continue;
    argument.setType(scalarOf(type));
    auto tensor = tensor::FromElementsOp::create(rewriter, argument.getLoc(), type, ValueRange{argument});
    argument.replaceAllUsesExcept(tensor, tensor);
  }
}

/// Replaces an op by one whose results without dimensions are scalars.
void replaceByScalars(RewriterBase &rewriter, Operation *op, Operation *scalar) {
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), scalar->getRegions()))
    to.takeBody(from);
  scalar->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.setInsertionPointAfter(scalar);
  for (auto [before, after] : llvm::zip_equal(op->getResults(), scalar->getResults())) {
    Value value = after;
    if (before.getType() != after.getType())
      value = tensor::FromElementsOp::create(rewriter, op->getLoc(), before.getType(), value);
    rewriter.replaceAllUsesWith(before, value);
  }
  rewriter.eraseOp(op);
}

//===--- Scalars of the body --------------------------------------------------------------------------------------===//

/// An operation on tensors without dimensions, inside of a loop, as operations on scalars.
struct ScalarGeneric : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (op.getNumLoops() != 0 || !op.hasPureTensorSemantics() || !op->getParentOfType<LoopLikeOpInterface>() ||
        !llvm::all_of(op->getResultTypes(), isScalarTensor))
      return failure();
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument element = op.getMatchingBlockArgument(&operand);
      if (element.use_empty())
        continue;
      Value value = operand.get();
      if (isa<TensorType>(value.getType())) {
        // An operand with dimensions of size 1 is read at constant indices.
        SmallVector<Value> indices;
        for (AffineExpr index : op.getMatchingIndexingMap(&operand).getResults())
          indices.push_back(
              arith::ConstantIndexOp::create(rewriter, op.getLoc(), cast<AffineConstantExpr>(index).getValue()));
        value = tensor::ExtractOp::create(rewriter, op.getLoc(), value, indices);
      }
      mapping.map(element, value);
    }
    for (Operation &nested : op.getBlock()->without_terminator())
      rewriter.clone(nested, mapping);
    SmallVector<Value> results;
    for (auto [value, type] : llvm::zip_equal(op.getBlock()->getTerminator()->getOperands(), op->getResultTypes()))
      results.push_back(tensor::FromElementsOp::create(rewriter, op.getLoc(), cast<RankedTensorType>(type),
                                                       ValueRange{mapping.lookupOrDefault(value)}));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The element of a tensor that was made of a scalar.
Value elementOf(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
      break;
    tensor = op->getOperand(0);
  }
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>(); fill && isScalarTensor(tensor.getType()))
    return fill.value();
  auto made = tensor.getDefiningOp<tensor::FromElementsOp>();
  return made && made.getElements().size() == 1 ? made.getElements().front() : Value();
}

/// A body reads a scalar itself, not the memory of a tensor that is made of it.
struct ReadElement : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      BlockArgument element = op.getMatchingBlockArgument(operand);
      Value scalar = element.use_empty() ? Value() : elementOf(operand->get());
      if (!scalar || isa_and_nonnull<linalg::GenericOp>(scalar.getParentBlock()->getParentOp()))
        continue;
      rewriter.replaceAllUsesWith(element, scalar);
      return success();
    }
    return failure();
  }
};

struct ExtractElement : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp op, PatternRewriter &rewriter) const override {
    Value scalar = elementOf(op.getTensor());
    if (!scalar)
      return failure();
    rewriter.replaceOp(op, scalar);
    return success();
  }
};

/// The loop that guards an update against places out of bounds is its body, if the places are known.
struct SingleIteration : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp op, PatternRewriter &rewriter) const override {
    return op->hasAttr(kControlFlowAttr) ? failure() : op.promoteIfSingleIteration(rewriter);
  }
};

} // namespace

void carryScalars(RewriterBase &rewriter, Operation *op) {
  if (llvm::none_of(op->getOperandTypes(), isScalarTensor) && llvm::none_of(op->getResultTypes(), isScalarTensor))
    return;
  SmallVector<Type> types = scalarsOf(op->getResultTypes());
  Location loc = op->getLoc();
  Operation *scalar = nullptr;
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    extractScalars(rewriter, loop.getInitsMutable());
    extractScalars(rewriter, loop.getConditionOp().getArgsMutable());
    extractScalars(rewriter, loop.getYieldOp().getResultsMutable());
    takeScalars(rewriter, loop.getBefore().front());
    takeScalars(rewriter, loop.getAfter().front());
    rewriter.setInsertionPoint(op);
    scalar = scf::WhileOp::create(rewriter, loc, types, loop.getInits());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    extractScalars(rewriter, loop.getInitArgsMutable());
    extractScalars(rewriter, cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResultsMutable());
    takeScalars(rewriter, *loop.getBody());
    rewriter.setInsertionPoint(op);
    scalar = scf::ForOp::create(rewriter, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                loop.getInitArgs());
  } else {
    auto branch = cast<scf::IfOp>(op);
    extractScalars(rewriter, branch.thenYield().getResultsMutable());
    extractScalars(rewriter, branch.elseYield().getResultsMutable());
    rewriter.setInsertionPoint(op);
    scalar = scf::IfOp::create(rewriter, loc, types, branch.getCondition(), /*addThenBlock=*/false,
                               /*addElseBlock=*/false);
  }
  replaceByScalars(rewriter, op, scalar);
}

void populateScalars(RewritePatternSet &patterns) {
  patterns.add<ScalarGeneric, ReadElement, ExtractElement, SingleIteration>(patterns.getContext());
}

} // namespace mlir::array::prepare

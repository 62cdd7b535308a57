#include "SimplifyGenerics.h"
#include "array/Analysis/ScatterForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Forms of ops
//===----------------------------------------------------------------------===//

/// Matmuls and similar ops: their operands are read many times, so nothing is computed while reading them, and the pass
/// that lowers them needs a plain multiply-add. A reduction of a product that reads everything once is not a
/// contraction.
static bool isContraction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2)
    return false;
  bool readsAgain = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return !op.getMatchingIndexingMap(operand).isPermutation();
  });
  return readsAgain && linalg::isaContractionOpInterface(op);
}

bool array::readsWhatIsStored(linalg::GenericOp op) { return op->hasAttr(array::kScatterAttr) || isContraction(op); }

bool array::makesTermsDense(linalg::GenericOp producer, OpOperand &operand) {
  auto consumer = cast<linalg::GenericOp>(operand.getOwner());
  AffineMap map = consumer.getMatchingIndexingMap(&operand);
  bool readsWindows = llvm::any_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
    return !consumer.getMatchingIndexingMap(other).isProjectedPermutation();
  });
  if (!readsWindows || !map.isProjectedPermutation() || producer.getNumDpsInputs() != 1 ||
      llvm::hasNItemsOrMore(*producer.getBody(), 2))
    return false;
  auto endsWithTerms = [&](AffineMap indices) {
    if (indices.getNumResults() == 0)
      return false;
    auto loop = dyn_cast<AffineDimExpr>(indices.getResults().back());
    return loop && consumer.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::reduction;
  };
  return endsWithTerms(map) && !endsWithTerms(producer.getIndexingMapsArray()[0].compose(map));
}

std::optional<std::pair<Value, Value>> array::partsOf(Value bits) {
  auto both = bits.getDefiningOp<arith::OrIOp>();
  auto moved = both ? both.getRhs().getDefiningOp<arith::ShLIOp>() : nullptr;
  auto low = moved ? both.getLhs().getDefiningOp<arith::ExtUIOp>() : nullptr;
  auto high = low ? moved.getLhs().getDefiningOp<arith::ExtUIOp>() : nullptr;
  APInt by;
  if (!high || !matchPattern(moved.getRhs(), m_ConstantInt(&by)) || high.getIn().getType() != low.getIn().getType() ||
      by != low.getIn().getType().getIntOrFloatBitWidth() || 2 * by != both.getType().getIntOrFloatBitWidth())
    return std::nullopt;
  return std::pair(low.getIn(), high.getIn());
}

namespace {

//===----------------------------------------------------------------------===//
// Reshapes that insert or drop dims of size 1
//===----------------------------------------------------------------------===//

/// The indices of each dimension of a reshape's source, given the indices of its result; none if the reshape does more
/// than add or drop ones.
std::optional<SmallVector<AffineExpr>> sourceIndices(Operation *reshape, ArrayRef<AffineExpr> resultIndices) {
  SmallVector<AffineExpr> indices;
  AffineExpr zero = getAffineConstantExpr(0, reshape->getContext());
  auto largeDims = [](RankedTensorType type, ArrayRef<int64_t> dims) {
    return llvm::filter_to_vector(dims, [&](int64_t dim) { return type.getDimSize(dim) != 1; });
  };
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape)) {
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      auto large = largeDims(expand.getResultType(), group);
      if (large.size() > 1)
        return std::nullopt;
      indices.push_back(large.empty() ? zero : resultIndices[large.front()]);
    }
    return indices;
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape);
  if (!collapse)
    return std::nullopt;
  indices.assign(collapse.getSrcType().getRank(), zero);
  for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    auto large = largeDims(collapse.getSrcType(), group);
    if (large.size() > 1)
      return std::nullopt;
    if (!large.empty())
      indices[large.front()] = resultIndices[dim];
  }
  return indices;
}

/// Reads the source of such a reshape, so that the kept dimension of a mean does not prevent fusion.
struct ReadThroughUnitReshape : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Operation *reshape = operand->get().getDefiningOp();
      if (!reshape || !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape))
        continue;
      auto indices = sourceIndices(reshape, op.getMatchingIndexingMap(operand).getResults());
      if (!indices)
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[operand->getOperandNumber()] = AffineMap::get(op.getNumLoops(), 0, *indices, op.getContext());
      // The maps must still determine the extent of each loop.
      if (!inversePermutation(concatAffineMaps(maps, op.getContext())) || array::readsWhatIsStored(op))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        operand->set(reshape->getOperand(0));
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      // Erase it at once: it counts as a reader of its source.
      if (reshape->use_empty())
        rewriter.eraseOp(reshape);
      return success();
    }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Bodies and operands in their simplest form
//===----------------------------------------------------------------------===//

/// Merges equal operations of a body, which reach it by several paths: x, y = y, x + y would double the body every
/// other step.
struct ShareInBody : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    DominanceInfo dominance(op);
    bool changed = false;
    eliminateCommonSubExpressions(rewriter, dominance, op, &changed);
    return success(changed);
  }
};

/// The value that a conversion takes out of bits in which another op put it: the half of a complex number, or a bool of
/// a byte.
Value valueOfBits(Operation &op) {
  if (auto cast = dyn_cast<arith::BitcastOp>(op)) {
    auto before = cast.getIn().getDefiningOp<arith::BitcastOp>();
    return before && before.getIn().getType() == cast.getType() ? before.getIn() : Value();
  }
  auto narrow = dyn_cast<arith::TruncIOp>(op);
  if (!narrow)
    return nullptr;
  Value bits = narrow.getIn();
  Type type = narrow.getType();
  auto high = bits.getDefiningOp<arith::ShRUIOp>();
  if (auto parts = array::partsOf(high ? high.getLhs() : bits); parts && parts->first.getType() == type) {
    APInt by;
    if (!high)
      return parts->first;
    return matchPattern(high.getRhs(), m_ConstantInt(&by)) && by == type.getIntOrFloatBitWidth() ? parts->second
                                                                                                 : Value();
  }
  auto wide = bits.getDefiningOp<arith::ExtUIOp>();
  return wide && wide.getIn().getType() == type ? wide.getIn() : Value();
}

/// Drops conversions back and forth between the values of two ops, and ops without readers.
struct ReadValuesOfBits : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    for (Operation &nested : *op.getBody())
      if (Value value = valueOfBits(nested)) {
        rewriter.replaceAllUsesWith(nested.getResult(0), value);
        changed = true;
      }
    if (changed)
      for (Operation &nested : llvm::make_early_inc_range(llvm::reverse(*op.getBody())))
        if (isOpTriviallyDead(&nested))
          rewriter.eraseOp(&nested);
    return success(changed);
  }
};

/// The scalar that all elements of a tensor equal.
Value splatScalar(Value tensor, PatternRewriter &rewriter) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.value();
  SplatElementsAttr splat;
  if (matchPattern(tensor, m_Constant(&splat)))
    return arith::ConstantOp::create(rewriter, tensor.getLoc(), splat.getSplatValue<TypedAttr>());
  return nullptr;
}

/// A constant of equal elements is not read from memory.
struct ReadSplatAsScalar : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (array::readsWhatIsStored(op))
      return failure();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      BlockArgument element = op.getMatchingBlockArgument(operand);
      if (element.use_empty()) // the operand only determines the size of a loop
        continue;
      if (Value scalar = splatScalar(operand->get(), rewriter)) {
        rewriter.replaceAllUsesWith(element, scalar);
        return success();
      }
    }
    return failure();
  }
};

} // namespace

FrozenRewritePatternSet array::simplificationsOfGenerics(MLIRContext *context) {
  RewritePatternSet patterns(context);
  patterns.add<ReadSplatAsScalar, ReadThroughUnitReshape, ReadValuesOfBits, ShareInBody>(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return patterns;
}

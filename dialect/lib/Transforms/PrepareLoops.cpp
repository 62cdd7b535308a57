// array-prepare-loops: gives a loop over tensors the form in which bufferization updates the carry in place. It runs
// after fusion, since what it inserts stands between producers and consumers, and before empty tensors are eliminated.
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::array {

#define GEN_PASS_DEF_PREPARELOOPS
#include "array/Transforms/Passes.h.inc"

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

/// Makes scalars of a block's arguments, from which the tensors that its body reads are made.
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

/// A counter, a tolerance, a key: what has no dimensions is carried in registers.
scf::WhileOp carryScalars(RewriterBase &rewriter, scf::WhileOp loop) {
  if (llvm::none_of(loop->getOperandTypes(), isScalarTensor) && llvm::none_of(loop.getResultTypes(), isScalarTensor))
    return loop;
  extractScalars(rewriter, loop.getInitsMutable());
  extractScalars(rewriter, loop.getConditionOp().getArgsMutable());
  extractScalars(rewriter, loop.getYieldOp().getResultsMutable());
  takeScalars(rewriter, loop.getBefore().front());
  takeScalars(rewriter, loop.getAfter().front());

  rewriter.setInsertionPoint(loop);
  auto scalar = scf::WhileOp::create(rewriter, loop.getLoc(), scalarsOf(loop.getResultTypes()), loop.getInits());
  scalar.getBefore().takeBody(loop.getBefore());
  scalar.getAfter().takeBody(loop.getAfter());
  for (auto [before, after] : llvm::zip_equal(loop.getResults(), scalar.getResults())) {
    Value value = after;
    if (before.getType() != after.getType())
      value = tensor::FromElementsOp::create(rewriter, loop.getLoc(), before.getType(), value);
    rewriter.replaceAllUsesWith(before, value);
  }
  rewriter.eraseOp(loop);
  return scalar;
}

//===--- Scalars of the body --------------------------------------------------------------------------------------===//

/// An operation on tensors without dimensions, inside of a loop, as operations on scalars.
struct ScalarGeneric : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (op.getNumLoops() != 0 || !op.hasPureTensorSemantics() || !op->getParentOfType<LoopLikeOpInterface>())
      return failure();
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument element = op.getMatchingBlockArgument(&operand);
      if (element.use_empty())
        continue;
      Value value = operand.get();
      if (isa<TensorType>(value.getType())) {
        if (!isScalarTensor(value.getType()))
          return failure();
        value = tensor::ExtractOp::create(rewriter, op.getLoc(), value, ValueRange());
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

/// The element of a tensor that is made of one.
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

/// A body reads a scalar itself, not from the memory of a tensor that is made of it.
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

//===--- Destinations ---------------------------------------------------------------------------------------------===//

bool isView(Operation *op) {
  return isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
}

/// The tensor of which a value is a view.
Value viewedTensor(Value tensor) {
  while (isView(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

/// Whether whatever else reads the tensor, or a view of it, stands before `last`, or within it where it has branches:
/// these read before they write.
bool isReadBefore(Value tensor, Operation *last) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    if (user == last)
      return true;
    Operation *inBlock = last->getBlock()->findAncestorOpInBlock(*user);
    if (inBlock == last)
      return isa<scf::IfOp, scf::ForOp>(last);
    return inBlock && inBlock->isBeforeInBlock(last) && (!isView(user) || isReadBefore(user->getResult(0), last));
  });
}

/// One tensor of the carry: what it is in an iteration, and what it becomes.
struct Update {
  unsigned index;
  Value current;
  Value next;

  bool reads(const Update &other) const { return viewedTensor(next) == other.current; }
};

/// The initial value that a result of a loop starts with.
OpOperand *initOf(scf::WhileOp loop, OpResult result) {
  auto passed = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[result.getResultNumber()]);
  if (!passed || passed.getOwner() != &loop.getBefore().front())
    return nullptr;
  return &loop->getOpOperand(passed.getArgNumber());
}

/// The tensor in whose place an op computes its result; null when there is none. `init` is set when it is a loop's.
Value startOf(OpResult result, OpOperand *&init) {
  Operation *owner = result.getOwner();
  // The value outside of a region that what it yields started from.
  auto outside = [&](Value value, Region &region) {
    OpOperand *inner = nullptr;
    while (value && value.getDefiningOp() && region.isAncestor(value.getParentRegion()))
      value = startOf(cast<OpResult>(value), inner);
    return value;
  };
  if (auto loop = dyn_cast<scf::WhileOp>(owner)) {
    OpOperand *found = initOf(loop, result);
    init = found ? found : init;
    return found ? found->get() : Value();
  }
  if (auto loop = dyn_cast<scf::ForOp>(owner)) {
    unsigned index = result.getResultNumber();
    Value last = outside(loop.getYieldedValues()[index], loop.getRegion());
    return last == loop.getRegionIterArg(index) ? loop.getInitArgs()[index] : Value();
  }
  if (auto branch = dyn_cast<scf::IfOp>(owner)) {
    unsigned index = result.getResultNumber();
    Value taken = outside(branch.thenYield().getOperand(index), branch.getThenRegion());
    Value other = outside(branch.elseYield().getOperand(index), branch.getElseRegion());
    return taken == other ? taken : Value();
  }
  if (auto op = dyn_cast<DestinationStyleOpInterface>(owner))
    return op.getTiedOpOperand(result)->get();
  return {};
}

void startWithCopy(RewriterBase &rewriter, OpOperand &init) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(init.getOwner());
  auto type = cast<RankedTensorType>(init.get().getType());
  init.set(bufferization::AllocTensorOp::create(rewriter, init.getOwner()->getLoc(), type, ValueRange(), init.get()));
}

/// Whether an update is computed in place of the current value by an inner loop, which starts with it. Nobody may read
/// it later then: if anybody does, the loop gets a copy to start with.
bool isUpdatedByInnerLoop(RewriterBase &rewriter, const Update &update, Operation *yield) {
  OpOperand *init = nullptr;
  bool isAlone = isReadBefore(update.next, yield);
  for (Value value = update.next; value != update.current;) {
    auto result = dyn_cast<OpResult>(value);
    value = result ? startOf(result, init) : Value();
    if (!value)
      return false;
    Operation *owner = result.getOwner();
    isAlone &= owner->getBlock() == yield->getBlock() && isReadBefore(value, owner) &&
               llvm::count(owner->getOperands(), value) <= 1;
  }
  if (init && !isAlone)
    startWithCopy(rewriter, *init);
  return init && isAlone;
}

/// An inner loop that starts with the current value, though the next one is something else, works on a copy.
void separateInnerLoops(RewriterBase &rewriter, const Update &update, Block &body) {
  for (auto inner : body.getOps<scf::WhileOp>()) {
    for (OpOperand &init : inner->getOpOperands()) {
      OpOperand *nested = nullptr;
      Value value = init.get();
      while (value != update.current &&
             isa_and_nonnull<scf::IfOp, scf::ForOp, DestinationStyleOpInterface>(value.getDefiningOp())) {
        Value start = startOf(cast<OpResult>(value), nested);
        if (!start)
          break;
        value = start;
      }
      if (value == update.current)
        startWithCopy(rewriter, init);
    }
  }
}

/// The next carry is computed in, or copied to, the buffers of this one. Without it bufferization would give each
/// iteration buffers of its own. Where one tensor becomes another one, that one is overwritten later; where they take
/// each other's places, a copy is kept.
void updateInPlace(RewriterBase &rewriter, scf::WhileOp loop) {
  scf::YieldOp yield = loop.getYieldOp();
  OperandRange passed = loop.getConditionOp().getArgs();
  SmallVector<Update> pending;
  for (auto [index, carried] : llvm::enumerate(loop.getBeforeArguments())) {
    Value next = yield.getResults()[index];
    auto found = llvm::find(passed, carried);
    if (!isa<RankedTensorType>(next.getType()) || found == passed.end())
      continue;
    Value current = loop.getAfterArguments()[found - passed.begin()];
    Update update{unsigned(index), current, next};
    if (next == current || isUpdatedByInnerLoop(rewriter, update, yield))
      continue;
    separateInnerLoops(rewriter, update, *yield->getBlock());
    pending.push_back(update);
  }
  rewriter.setInsertionPoint(yield);
  auto keptCopy = [&](Update &update) {
    auto type = cast<RankedTensorType>(update.next.getType());
    update.next = bufferization::AllocTensorOp::create(rewriter, loop.getLoc(), type, ValueRange(), update.next);
  };
  while (!pending.empty()) {
    auto isReadLater = [&](const Update &update) {
      return llvm::any_of(pending,
                          [&](const Update &other) { return other.index != update.index && other.reads(update); });
    };
    auto *chosen = llvm::find_if_not(pending, isReadLater);
    if (chosen == pending.end()) {
      chosen = pending.begin();
      for (Update &other : pending)
        if (other.index != chosen->index && other.reads(*chosen))
          keptCopy(other);
    }
    if (chosen->reads(*chosen))
      keptCopy(*chosen);
    auto written = bufferization::MaterializeInDestinationOp::create(rewriter, loop.getLoc(), chosen->next.getType(),
                                                                     chosen->next, chosen->current);
    yield.setOperand(chosen->index, written.getResult());
    pending.erase(chosen);
  }
}

/// A carry that starts as an argument starts as a copy of it, since arguments are never written.
void copyArguments(RewriterBase &rewriter, scf::WhileOp loop) {
  rewriter.setInsertionPoint(loop);
  for (OpOperand &init : loop->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(init.get().getType());
    if (!type || !type.hasStaticShape() || !init.get().getDefiningOp<bufferization::ToTensorOp>())
      continue;
    Value empty = tensor::EmptyOp::create(rewriter, loop.getLoc(), type.getShape(), type.getElementType());
    auto copy = bufferization::MaterializeInDestinationOp::create(rewriter, loop.getLoc(), type, init.get(), empty);
    init.set(copy.getResult());
  }
}

struct PrepareLoops : impl::PrepareLoopsBase<PrepareLoops> {
  void runOnOperation() override {
    SmallVector<scf::WhileOp> loops;
    getOperation().walk([&](scf::WhileOp loop) { loops.push_back(loop); }); // inner ones first
    if (loops.empty())
      return;
    IRRewriter rewriter(&getContext());
    for (scf::WhileOp &loop : loops)
      loop = carryScalars(rewriter, loop);

    RewritePatternSet patterns(&getContext());
    patterns.add<ScalarGeneric, ReadElement, ExtractElement>(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    // Stopping before a fixed point is no failure: what is left computes the same in buffers.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);

    getOperation().walk([&](scf::WhileOp loop) {
      updateInPlace(rewriter, loop);
      copyArguments(rewriter, loop);
    });
  }
};

} // namespace
} // namespace mlir::array

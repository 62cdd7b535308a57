// array-uplift-loops: a while loop that counts (`i < n`, `i + 1`) becomes a loop with bounds. Its length is known
// before its first iteration, so its budget is spent once. A counter that another loop carries is computed from the
// number of the iteration. Counters have ranges, so clamps and checks of indices fold.
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::array {

#define GEN_PASS_DEF_UPLIFTLOOPS
#include "array/Entry/Passes.h.inc"

namespace {

/// Whether an element is the same during the whole run: of an argument that the program does not write.
bool isConstantInRun(memref::LoadOp load) {
  Value buffer = load.getMemRef();
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto main = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return main && getEntryRole(main, argument.getArgNumber()) == EntryRole::Argument &&
         !main.getArgAttr(argument.getArgNumber(), kWrittenAttr);
}

/// Moves the computation of the limit before the loop: its fusion with the comparison has put it into the condition,
/// which runs at least once.
void hoistLimit(scf::WhileOp loop) {
  for (Operation &op : llvm::make_early_inc_range(loop.getBeforeBody()->without_terminator())) {
    auto load = dyn_cast<memref::LoadOp>(op);
    bool isSame = load ? isConstantInRun(load) : op.getNumRegions() == 0 && isPure(&op);
    if (isSame && llvm::all_of(op.getOperands(), [&](Value value) { return loop.isDefinedOutsideOfLoop(value); }))
      op.moveBefore(loop);
  }
}

/// A loop over a number that grows by 1 until it reaches a limit. (Larger steps could overflow in the last iteration,
/// and upstream's pattern also accepts the steps of loops that never end.)
struct CountingLoop {
  scf::WhileOp loop;
  unsigned counter; // the number of the argument
  unsigned limit;   // the number of the operand of the comparison: the limit may be a result of a loop that is replaced

  Value getLimit() const {
    return scf::WhileOp(loop).getConditionOp().getCondition().getDefiningOp()->getOperand(limit);
  }
};

std::optional<CountingLoop> countsUp(scf::WhileOp loop) {
  auto condition = loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  if (!condition || loop.getConditionOp().getArgs() != loop.getBeforeArguments())
    return std::nullopt;
  bool isMirrored = condition.getPredicate() == arith::CmpIPredicate::sgt;
  Value number = isMirrored ? condition.getRhs() : condition.getLhs();
  auto counter = dyn_cast<BlockArgument>(number);
  if (!counter || counter.getOwner() != loop.getBeforeBody() ||
      !(isMirrored || condition.getPredicate() == arith::CmpIPredicate::slt))
    return std::nullopt;
  auto next = loop.getYieldOp().getOperand(counter.getArgNumber()).getDefiningOp<arith::AddIOp>();
  if (!next || llvm::none_of(next->getOperands(), [](Value value) { return matchPattern(value, m_One()); }))
    return std::nullopt;
  return CountingLoop{loop, counter.getArgNumber(), isMirrored ? 0U : 1U};
}

/// Upstream's pattern uses the counter of the last iteration as the counter after the loop.
bool uplift(IRRewriter &rewriter, const CountingLoop &counting) {
  scf::WhileOp loop = counting.loop;
  Value start = loop.getInits()[counting.counter], end = loop.getResult(counting.counter), limit = counting.getLimit();
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(end.getUses()));
  FailureOr<scf::ForOp> made = scf::upliftWhileToForLoop(rewriter, loop);
  if (failed(made))
    return false;
  if (uses.empty())
    return true;
  rewriter.setInsertionPointAfter(*made);
  Value last = arith::MaxSIOp::create(rewriter, made->getLoc(), start, limit);
  for (OpOperand *use : uses)
    use->set(last);
  return true;
}

/// A number that a loop of known length carries, and that grows by a constant in each iteration.
struct CarriedCounter {
  unsigned number; // of the iteration argument
  APInt start, step, end;
};

SmallVector<CarriedCounter> carriedCounters(scf::ForOp loop) {
  SmallVector<CarriedCounter> found;
  APInt length;
  if (!matchPattern(loop.getLowerBound(), m_Zero()) || !matchPattern(loop.getStep(), m_One()) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&length)) || !loop.getInductionVar().getType().isIndex() ||
      length.isNegative())
    return found;
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    APInt start, step;
    if (!isa<IntegerType>(argument.getType()) || !matchPattern(loop.getInitArgs()[number], m_ConstantInt(&start)))
      continue;
    auto next = loop.getYieldedValues()[number].getDefiningOp<arith::AddIOp>();
    if (next && next.getLhs() == argument && matchPattern(next.getRhs(), m_ConstantInt(&step)))
      found.push_back(
          {static_cast<unsigned>(number), start, step, start + step * length.zextOrTrunc(step.getBitWidth())});
  }
  return found;
}

/// Computes the carried counters of a loop from its induction variable. The carries remain, unread and unchanged.
bool deriveCounters(IRRewriter &rewriter, scf::ForOp loop) {
  SmallVector<CarriedCounter> counters = carriedCounters(loop);
  for (const CarriedCounter &counter : counters) {
    BlockArgument argument = loop.getRegionIterArg(counter.number);
    Location loc = loop.getLoc();
    auto constant = [&](const APInt &value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(argument.getType(), value));
    };
    rewriter.setInsertionPointToStart(loop.getBody());
    Value value = arith::IndexCastOp::create(rewriter, loc, argument.getType(), loop.getInductionVar());
    if (!counter.step.isOne())
      value = arith::MulIOp::create(rewriter, loc, value, constant(counter.step));
    if (!counter.start.isZero())
      value = arith::AddIOp::create(rewriter, loc, value, constant(counter.start));
    argument.replaceAllUsesWith(value);
    loop.getBody()->getTerminator()->setOperand(counter.number, argument);
    rewriter.setInsertionPointAfter(loop);
    if (!loop.getResult(counter.number).use_empty())
      loop.getResult(counter.number).replaceAllUsesWith(constant(counter.end));
  }
  return !counters.empty();
}

/// The range of a value as a signed number; all numbers, if nothing is known.
ConstantIntRanges rangeOf(DataFlowSolver &solver, Value value) {
  if (auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value))
    if (!lattice->getValue().isUninitialized())
      return lattice->getValue().getValue();
  return ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(value.getType()));
}

/// The number of the operand that is the result of a clamp for all values.
std::optional<unsigned> alwaysChosen(DataFlowSolver &solver, Operation *op) {
  bool isMinimum = isa<arith::MinSIOp, arith::MinUIOp>(op), isSigned = isa<arith::MinSIOp, arith::MaxSIOp>(op);
  if (!isMinimum && !isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::nullopt;
  ConstantIntRanges x = rangeOf(solver, op->getOperand(0)), y = rangeOf(solver, op->getOperand(1));
  auto isBelow = [&](const ConstantIntRanges &low, const ConstantIntRanges &high) {
    return isSigned ? low.smax().sle(high.smin()) : low.umax().ule(high.umin());
  };
  if (isBelow(x, y))
    return isMinimum ? 0 : 1;
  if (isBelow(y, x))
    return isMinimum ? 1 : 0;
  return std::nullopt;
}

/// Folds clamps and comparisons whose result is certain from the ranges of counters. Returns whether there were any.
bool foldByRanges(func::FuncOp function) {
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(function)))
    return false;
  // All decisions come before all changes, because the analysis identifies values by their address.
  SmallVector<std::pair<Operation *, unsigned>> clamps;
  SmallVector<std::pair<arith::CmpIOp, bool>> comparisons;
  function.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex())
      return;
    if (std::optional<unsigned> chosen = alwaysChosen(solver, op))
      clamps.push_back({op, *chosen});
    else if (auto comparison = dyn_cast<arith::CmpIOp>(op))
      if (std::optional<APInt> known = rangeOf(solver, comparison).getConstantValue())
        comparisons.push_back({comparison, known->getBoolValue()});
  });
  IRRewriter rewriter(function.getContext());
  for (auto [comparison, holds] : comparisons) {
    rewriter.setInsertionPoint(comparison);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(comparison, rewriter.getBoolAttr(holds));
  }
  for (auto [clamp, chosen] : clamps)
    rewriter.replaceOp(clamp, clamp->getOperand(chosen));
  return !clamps.empty() || !comparisons.empty();
}

struct UpliftLoops : impl::UpliftLoopsBase<UpliftLoops> {
  void runOnOperation() override {
    SmallVector<CountingLoop> loops; // inner ones first
    getOperation().walk([&](scf::WhileOp loop) {
      hoistLimit(loop);
      if (std::optional<CountingLoop> counting = countsUp(loop))
        loops.push_back(*counting);
    });
    IRRewriter rewriter(&getContext());
    bool hasChanged = false;
    for (const CountingLoop &counting : loops) {
      rewriter.setInsertionPoint(counting.loop);
      hasChanged |= uplift(rewriter, counting);
    }
    bool hasCounters = false;
    getOperation().walk([&](scf::ForOp loop) { hasCounters |= deriveCounters(rewriter, loop); });
    if ((hasChanged || hasCounters) && foldByRanges(getOperation()) && hasCounters)
      simplify();
  }

  /// A check that certainly passes leaves operations, carries and branches that nothing needs.
  void simplify() {
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::IfOp::getCanonicalizationPatterns(patterns, &getContext());
    arith::ExtUIOp::getCanonicalizationPatterns(patterns, &getContext());
    arith::TruncIOp::getCanonicalizationPatterns(patterns, &getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};

} // namespace
} // namespace mlir::array

// The part of array-in-place-carries for carries that pass their values on: u, before = f(u, before), u. After as many
// steps as there are such carries, each is computed in the memory of the one that it replaces. So that many steps are
// unrolled into one, and no copy is left. The same holds for two steps that compute a carry in two buffers in turns.
#include "InPlaceCarries.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include <numeric>

namespace mlir::array {

namespace {

/// Smaller copies cost less than the code of another step.
constexpr int64_t leastElements = 1024;
/// Maximum number of unrolled steps, and of all their operations.
constexpr int64_t mostSteps = 4, mostOperations = 2048;

/// The number of operations of a body; none if it holds another loop or conditional of the program.
std::optional<int64_t> countOperations(Block &body) {
  int64_t count = 0;
  WalkResult walked = body.walk([&](Operation *op) {
    ++count;
    return isa<scf::WhileOp>(op) || op->hasAttr(kControlFlowAttr) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted() ? std::nullopt : std::optional(count);
}

/// The number of steps after which every large tensor is in its place again, if the carries only pass their values on;
/// 1 if none does.
int64_t periodOf(scf::ForOp loop) {
  SmallVector<prepare::Update> updates = prepare::updatesOf(loop);
  auto handedOn = [&](const prepare::Update &update) -> const prepare::Update * {
    auto type = cast<RankedTensorType>(update.current.getType());
    if (update.next == update.current || !type.hasStaticShape() || type.getNumElements() < leastElements)
      return nullptr;
    auto *found = llvm::find_if(updates, [&](const prepare::Update &other) { return other.current == update.next; });
    return found == updates.end() ? nullptr : found;
  };
  int64_t period = 1;
  for (const prepare::Update &update : updates) {
    int64_t length = 1;
    for (const prepare::Update *next = handedOn(update); next && length <= mostSteps; next = handedOn(*next)) {
      if (next == &update) // a cycle
        break;
      ++length;
    }
    period = std::lcm(period, length);
    if (period > mostSteps)
      return 1;
  }
  return period;
}

} // namespace

void prepare::unrollRotations(RewriterBase &rewriter, scf::ForOp loop) {
  std::optional<llvm::APInt> trips = loop.getStaticTripCount();
  std::optional<int64_t> operations = countOperations(*loop.getBody());
  auto mayUnroll = [&](int64_t steps) {
    return trips && trips->getSExtValue() >= 2 * steps && operations && steps * *operations <= mostOperations;
  };
  int64_t period = periodOf(loop);
  SmallVector<unsigned> formers;
  if (std::lcm(period, 2) <= mostSteps && mayUnroll(std::lcm(period, 2)))
    if (Operation *inTurns = takeTurns(rewriter, loop, leastElements, formers)) {
      loop = cast<scf::ForOp>(inTurns);
      period = std::lcm(period, 2);
    }
  // The results are the loop itself and an epilogue, a copy of it with its attributes.
  if (period != 1 && mayUnroll(period))
    (void)loopUnrollByFactor(loop, period);
}

void prepare::unrollTurns(RewriterBase &rewriter, scf::WhileOp loop) {
  std::optional<int64_t> condition = countOperations(*loop.getBeforeBody()),
                         step = countOperations(*loop.getAfterBody());
  if (!condition || !step || 2 * (*condition + *step) > mostOperations)
    return;
  SmallVector<unsigned> formers;
  Operation *inTurns = takeTurns(rewriter, loop, leastElements, formers);
  if (!inTurns)
    return;
  loop = cast<scf::WhileOp>(inTurns);
  Block &before = *loop.getBeforeBody(), &after = *loop.getAfterBody();
  scf::YieldOp yield = loop.getYieldOp();
  SmallVector<Value> next(yield.getOperands());
  SmallVector<Operation *> steps = llvm::map_to_vector(after.without_terminator(), [](Operation &op) { return &op; });
  auto copyOf = [&](ArrayRef<Operation *> ops, Block &block, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(block.getArguments(), arguments);
    for (Operation *op : ops)
      rewriter.clone(*op, mapping);
    return llvm::map_to_vector(block.getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  rewriter.setInsertionPoint(yield);
  SmallVector<Value> decided =
      copyOf(llvm::map_to_vector(before.without_terminator(), [](Operation &op) { return &op; }), before, next);
  // The carries but those that were added: they get the value of the first step, which is in their memory. If there was
  // no second step, the loop is over.
  auto carried = [&](ArrayRef<Value> values) { return values.drop_back(formers.size()); };
  auto second = scf::IfOp::create(rewriter, yield.getLoc(), ValueRange(carried(next)).getTypes(), decided.front(),
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  second->setAttr(kControlFlowAttr, rewriter.getUnitAttr());
  rewriter.setInsertionPointToStart(second.thenBlock());
  SmallVector<Value> results = copyOf(steps, after, ArrayRef(decided).drop_front());
  scf::YieldOp::create(rewriter, yield.getLoc(), carried(results));
  rewriter.setInsertionPointToStart(second.elseBlock());
  scf::YieldOp::create(rewriter, yield.getLoc(), carried(next));
  rewriter.modifyOpInPlace(yield, [&] {
    SmallVector<Value> values(second.getResults());
    for (unsigned former : formers)
      values.push_back(next[former]);
    yield->setOperands(values);
  });
}

} // namespace mlir::array

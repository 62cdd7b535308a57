// The sum part of array-in-place-carries: a sum that is added to the carry of a loop.
#include "InPlaceCarries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array {

SmallVector<prepare::Update> prepare::updatesOf(Operation *op) {
  SmallVector<prepare::Update> updates;
  auto add = [&](OpOperand &yielded, Value current) {
    if (isa<RankedTensorType>(current.getType()))
      updates.push_back({&yielded, current, yielded.get()});
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [yielded, current] :
         llvm::zip_equal(loop.getBody()->getTerminator()->getOpOperands(), loop.getRegionIterArgs()))
      add(yielded, current);
    return updates;
  }
  auto loop = cast<scf::WhileOp>(op);
  OperandRange passed = loop.getConditionOp().getArgs();
  for (auto [yielded, carried] : llvm::zip_equal(loop.getYieldOp()->getOpOperands(), loop.getBeforeArguments())) {
    auto found = llvm::find(passed, carried);
    if (found != passed.end())
      add(yielded, loop.getAfterArguments()[found - passed.begin()]);
  }
  return updates;
}

namespace {

/// The op of a sum of two values, if the value is one.
template <typename... Adds> Operation *sumOf(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<Adds...>(op) ? op : nullptr;
}

/// Whether an op adds two tensors, element by element.
bool isAddition(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Operation *sum = sumOf<arith::AddFOp, arith::AddIOp>(op.getBody()->getTerminator()->getOperand(0));
  if (!sum || !llvm::hasNItems(*op.getBody(), 2))
    return false;
  Value x = op.getBody()->getArgument(0), y = op.getBody()->getArgument(1);
  return (sum->getOperand(0) == x && sum->getOperand(1) == y) || (sum->getOperand(0) == y && sum->getOperand(1) == x);
}

/// Whether a reduction adds to zeros.
bool isSumFromZero(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() == 0)
    return false;
  Operation *sum = sumOf<arith::AddFOp, arith::AddIOp>(op.getBlock()->getTerminator()->getOperand(0));
  Value accumulator = op.getRegionOutputArgs().front();
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  return sum && fill && accumulator.hasOneUse() && llvm::is_contained(sum->getOperands(), accumulator) &&
         (matchPattern(fill.value(), m_AnyZeroFloat()) || matchPattern(fill.value(), m_Zero()));
}

} // namespace

void prepare::accumulateInPlace(RewriterBase &rewriter, Operation *loop) {
  for (auto [yielded, current, next] : prepare::updatesOf(loop)) {
    auto addition = next.getDefiningOp<linalg::GenericOp>();
    if (!addition || addition->getParentRegion() != current.getParentRegion() || !isAddition(addition))
      continue;
    unsigned other = addition.getInputs()[0] == current ? 1 : 0;
    auto sum = addition.getInputs()[other].getDefiningOp<linalg::LinalgOp>();
    if (addition.getInputs()[1 - other] != current || !sum || !sum->hasOneUse() ||
        sum->getBlock() != addition->getBlock() || !isSumFromZero(sum))
      continue;
    rewriter.moveOpBefore(sum, addition);
    Operation *zeros = sum.getDpsInits().front().getDefiningOp();
    rewriter.modifyOpInPlace(sum, [&, current = current] { sum.getDpsInitsMutable()[0].set(current); });
    if (zeros->use_empty())
      rewriter.eraseOp(zeros);
    rewriter.replaceOp(addition, sum->getResults());
  }
}

} // namespace mlir::array

// array-split-contractions: a matmul of many terms and a small result, such as the gradient of a small weight by a
// large batch, becomes one for each part of the terms, and a sum of the parts. Threads share the parts; the blocks of a
// small result are too few for them. The number of parts follows from the sizes alone, so a result does not depend on
// the number of threads. Runs after array-widen-matmuls, and before array-fuse-elementwise.
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_SPLITCONTRACTIONS
#include "array/Cpu/Passes.h.inc"

namespace {

/// The maximum number of elements of a result: beyond, its blocks suffice for some threads.
constexpr int64_t mostElements = 2048;
/// The minimum number of rows and of columns: others are limited by memory, and are sums of rows.
constexpr int64_t leastSide = 8;
/// The minimum number of multiplications, some 40 us of one core.
constexpr int64_t leastWork = 1 << 22;
/// The numbers of parts that are tried, one of which divides the terms.
constexpr int64_t numbers[] = {8, 10, 9, 12, 7, 6, 5, 4};

/// The number of parts of a contraction: 1 if it stays.
int64_t partsOf(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp>(op) || !linalg::isaContractionOpInterface(op) || op.getNumReductionLoops() != 1 ||
      !op.hasPureTensorSemantics() || op->getNumResults() != 1)
    return 1;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  bool isWide = llvm::all_of(op->getOperandTypes(), [](Type operand) {
    Type element = getElementTypeOrSelf(operand);
    return element.isF32() || element.isF64();
  });
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!type || !isWide || llvm::is_contained(ranges, ShapedType::kDynamic) || type.getNumElements() > mostElements)
    return 1;
  int64_t sides = 0, terms = 1;
  for (auto [range, kind] : llvm::zip_equal(ranges, op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::reduction)
      terms = range;
    else if (range >= leastSide)
      ++sides;
  }
  if (sides < 2 || type.getNumElements() * terms < leastWork)
    return 1;
  const int64_t *found = llvm::find_if(numbers, [&](int64_t number) { return terms % number == 0; });
  return found == std::end(numbers) ? 1 : *found;
}

struct SplitContractions : impl::SplitContractionsBase<SplitContractions> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> found;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (partsOf(op) != 1)
        found.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : found) {
      rewriter.setInsertionPoint(op);
      (void)linalg::splitReduction(rewriter, op, [](linalg::LinalgOp each) {
        return linalg::SplitReductionOptions{partsOf(each), /*index=*/0, /*innerParallel=*/false};
      });
    }
  }
};

} // namespace
} // namespace mlir::array

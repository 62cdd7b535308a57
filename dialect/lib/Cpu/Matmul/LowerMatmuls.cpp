// array-lower-matmuls: matmuls on buffers become the blocked matmuls that Matmul.cpp emits. Runs after bufferization,
// and before array-plan-memory, which places the packing buffers. array-vectorize-linalg lowers the remaining
// contractions.
#include "ContractionLowering.h"
#include "MatmulPlanTable.h"
#include "array/Analysis/GivenUp.h"
#include "array/Analysis/MatmulWorth.h"
#include "array/Cpu/MatmulPlans.h"
#include "array/Cpu/Passes.h"
#include "array/IR/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERMATMULS
#include "array/Cpu/Passes.h.inc"

namespace {

/// For two or three columns across k, with rows of a along k: once b is transposed, the loops read vectors of both.
void transposeNarrow(linalg::LinalgOp op) {
  constexpr int64_t mostColumns = 3, leastRows = 16, leastDepth = 64;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  FailureOr<MatmulForm> product = readMatmul(op);
  if (!generic || failed(product) || product->narrow != MatmulForm::None || !product->outer.empty() ||
      !product->outerReductions.empty())
    return;
  // The narrow factor is the right one, or the left one.
  bool isRight = product->n.size.isAtMost(mostColumns);
  const Dimension &narrow = isRight ? product->n : product->m, &wide = isRight ? product->m : product->n;
  int number = isRight ? 1 : 0;
  if (narrow.size.least() < 2 || !narrow.size.isAtMost(mostColumns) || wide.size.expected() < leastRows ||
      product->k.size.expected() < leastDepth || !product->k.strides[1 - number].isStatic(1) ||
      product->k.strides[number].isStatic(1))
    return;
  OpOperand *operand = op.getDpsInputOperand(number);
  AffineMap map = op.getMatchingIndexingMap(operand);
  auto type = cast<MemRefType>(operand->get().getType());
  if (type.getRank() != 2 || type.getElementType() != getElementTypeOrSelf(product->c.buffer.getType()))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value buffer = allocateOrdered(b, operand->get(), {1, 0});
  int64_t swapped[] = {1, 0};
  linalg::TransposeOp::create(b, operand->get(), buffer, swapped);
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  maps[number] = AffineMap::get(map.getNumDims(), 0, {map.getResult(1), map.getResult(0)}, b.getContext());
  operand->set(buffer);
  generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

void tellOfLoops(linalg::LinalgOp op, int64_t m, int64_t n, int64_t k, const llvm::Twine &why) {
  if (isWorthBlocking(m, n, k))
    tellGivenUp(op.getLoc(), "matmul-in-loops",
                "a matmul of " + llvm::Twine(m) + "x" + llvm::Twine(k) + " by " + llvm::Twine(k) + "x" +
                    llvm::Twine(n) + " is computed by loops: " + why);
}

/// Emits a remark if a contraction of unsupported form has the sizes of a matmul.
void tellOfForm(linalg::LinalgOp op) {
  FailureOr<linalg::ContractionDimensions> dimensions = linalg::inferContractionDims(op);
  if (failed(dimensions))
    return;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto size = [&](ArrayRef<unsigned> loops) {
    int64_t all = 1;
    for (unsigned loop : loops)
      all *= ShapedType::isDynamic(ranges[loop]) ? 1 : ranges[loop];
    return all;
  };
  bool hasIntegers = isa<IntegerType>(getElementTypeOrSelf(op.getDpsInputOperand(0)->get().getType()));
  tellOfLoops(op, size(dimensions->m), size(dimensions->n), size(dimensions->k),
              hasIntegers ? "there is no blocked matmul of these integers"
                          : "the elements of an operand or of the result do not lie in rows or columns");
}

struct LowerMatmuls : impl::LowerMatmulsBase<LowerMatmuls> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(verifyVectorBits(getOperation(), getArgument(), vectorBits)))
      return signalPassFailure();
    Registers registers{vectorBits, bfloat16Dot2};
    SmallVector<linalg::LinalgOp> contractions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0)
        contractions.push_back(op);
    });
    for (linalg::LinalgOp op : contractions) {
      if (failed(verifyPlan(op)))
        return signalPassFailure();
      FailureOr<MatmulForm> product = readScheduled(op, registers);
      if (failed(product)) {
        tellOfForm(op);
        continue;
      }
      Type element = getElementTypeOrSelf(product->c.buffer.getType());
      MatmulSchedule schedule = chooseSchedule(op, *product, element, registers);
      if (schedule.method != MatmulMethod::Loops) {
        emitContraction(op, *product, schedule, element);
        continue;
      }
      if (planned(op, "strategy", StringRef()) != "loops")
        tellOfLoops(op, product->m.size.expected(), product->n.size.expected(), product->k.size.expected(),
                    "the processor has no instruction for pairs of these factors, or the depth is not known early");
      transposeNarrow(op);
    }
  }
};

} // namespace

std::vector<MatmulPlan> matmulPlans(linalg::LinalgOp op, unsigned vectorBits, bool bfloat16Dot2) {
  FailureOr<MatmulForm> product = readMatmul(op);
  if (failed(product) || failed(orient(*product)))
    return {};
  Type element = getElementTypeOrSelf(product->c.buffer.getType());
  MatmulSchedule schedule = chooseSchedule(op, *product, element, {vectorBits, bfloat16Dot2});
  if (schedule.method == MatmulMethod::Stream)
    schedule.tile = chooseMatmulTile(element, vectorBits, product->n.size.expected());
  MatmulFreedom freedom{product->m.size.expected(), product->n.size.expected(), product->k.size.expected(),
                        schedule.tile, schedule.blocks};
  freedom.isTiled = schedule.method == MatmulMethod::Tiles || schedule.method == MatmulMethod::Dot2;
  freedom.isLooped = schedule.method == MatmulMethod::Loops;
  freedom.isDot2 = product->narrow != MatmulForm::None;
  if (!freedom.isDot2 && product->n.strides[1].isStatic(1)) {
    if (schedule.packing != MatmulPacking::Rows)
      freedom.packings.push_back("copied");
    if (schedule.packing != MatmulPacking::Once && canCopyOnce(*product, schedule.blocks))
      freedom.packings.push_back("once");
    if (schedule.packing != MatmulPacking::InPlace && product->n.size.isMultipleOf(schedule.tile.columns()))
      freedom.packings.push_back("in-place");
  }
  if (!freedom.isDot2 && schedule.packing == MatmulPacking::Turned)
    freedom.packings.push_back("copied");
  if (!freedom.isDot2 && schedule.packing == MatmulPacking::Columns &&
      canTurnOnce(*product, schedule.tile, schedule.blocks))
    freedom.packings.push_back("once");
  freedom.canStream = schedule.method != MatmulMethod::Stream && canStream(*product, element, vectorBits);
  freedom.registers = vectorBits >= 512 ? 32 : 16;
  return matmulPlanTable(freedom);
}

} // namespace mlir::array

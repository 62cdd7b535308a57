// The pass array-schedule-convolutions: writes the cost model's choice for each convolution on buffers as its
// array.plan (array/IR/Plan.h), to be read, tested and changed. array-lower-convolutions emits the same code without
// it.
#include "ConvolutionChoices.h"
#include "array/Cpu/Passes.h"
#include "array/IR/Plan.h"

#include "mlir/IR/Builders.h"

namespace mlir::array {

#define GEN_PASS_DEF_SCHEDULECONVOLUTIONS
#include "array/Cpu/Passes.h.inc"

namespace {

struct ScheduleConvolutions : impl::ScheduleConvolutionsBase<ScheduleConvolutions> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(verifyVectorBits(getOperation(), getArgument(), vectorBits)))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](linalg::LinalgOp op) -> WalkResult {
      if (op.getNumReductionLoops() == 0)
        return success();
      FailureOr<Convolution> convolution = analyzeConvolution(op);
      if (failed(convolution) ||
          !isWorthTiling(*convolution, getElementTypeOrSelf(convolution->out.getType()), vectorBits))
        return success();
      if (failed(verifyPlan(op)))
        return failure();
      op->setDiscardableAttr(kPlanAttr, planOf(op, *convolution));
      return success();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  DictionaryAttr planOf(linalg::LinalgOp op, const Convolution &convolution) {
    MatmulTile tile =
        chooseConvolutionTile(op, getElementTypeOrSelf(convolution.out.getType()), vectorBits, convolution);
    ConvolutionLimits limits = chooseConvolutionLimits(op, tile);
    Builder b(&getContext());
    SmallVector<NamedAttribute> entries;
    auto number = [&](StringRef name, int64_t value) {
      entries.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
    };
    number("tile_rows", tile.rows);
    number("tile_vectors", tile.vectors);
    number("rows", limits.rows);
    if (limits.columns > 0) // else a block has all columns
      number("columns", limits.columns);
    number("depth", limits.terms);
    number("slab", limits.slabBytes);
    return b.getDictionaryAttr(entries);
  }
};

} // namespace

} // namespace mlir::array

// The pass array-schedule-matmuls: writes the cost model's choice for each matmul on buffers as its array.plan
// (array/IR/Plan.h), to be read, tested and changed. array-lower-matmuls emits the same code without it.
#include "MatmulSchedule.h"
#include "array/Cpu/Passes.h"
#include "array/IR/Plan.h"

#include "mlir/IR/Builders.h"

namespace mlir::array {

#define GEN_PASS_DEF_SCHEDULEMATMULS
#include "array/Cpu/Passes.h.inc"

namespace {

StringRef nameOf(MatmulMethod method) {
  switch (method) {
  case MatmulMethod::Loops:
    return "loops";
  case MatmulMethod::Tiles:
    return "tiles";
  case MatmulMethod::Stream:
    return "stream";
  case MatmulMethod::Dot2:
    return "dot2";
  }
  llvm_unreachable("a method without a name");
}

StringRef nameOf(MatmulPacking packing) {
  switch (packing) {
  case MatmulPacking::InPlace:
    return "in-place";
  case MatmulPacking::Once:
  case MatmulPacking::Turned:
    return "once";
  case MatmulPacking::Rows:
  case MatmulPacking::Columns:
  case MatmulPacking::Strided:
    return "copied";
  }
  llvm_unreachable("a packing without a name");
}

DictionaryAttr planOf(MLIRContext *context, const MatmulSchedule &schedule) {
  Builder b(context);
  SmallVector<NamedAttribute> entries{b.getNamedAttr("strategy", b.getStringAttr(nameOf(schedule.method)))};
  auto number = [&](StringRef name, int64_t value) {
    entries.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  };
  bool isTiled = schedule.method == MatmulMethod::Tiles;
  if (isTiled) {
    entries.push_back(b.getNamedAttr("packing", b.getStringAttr(nameOf(schedule.packing))));
    number("tile_rows", schedule.tile.rows);
    number("tile_vectors", schedule.tile.vectors);
  }
  if (isTiled || schedule.method == MatmulMethod::Dot2) {
    number("rows", schedule.blocks.rows);
    number("columns", schedule.blocks.columns);
    number("depth", schedule.blocks.depth);
  }
  return b.getDictionaryAttr(entries);
}

struct ScheduleMatmuls : impl::ScheduleMatmulsBase<ScheduleMatmuls> {
  using Base::Base;

  void runOnOperation() override {
    Registers registers{vectorBits, bfloat16Dot2};
    if (failed(verifyVectorBits(getOperation(), getArgument(), vectorBits)))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> contractions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0)
        contractions.push_back(op);
    });
    for (linalg::LinalgOp op : contractions) {
      if (failed(verifyPlan(op)))
        return signalPassFailure();
      FailureOr<MatmulForm> product = readScheduled(op, registers);
      if (failed(product))
        continue;
      Type element = getElementTypeOrSelf(product->c.buffer.getType());
      op->setDiscardableAttr(kPlanAttr, planOf(&getContext(), chooseSchedule(op, *product, element, registers)));
    }
  }
};

} // namespace

} // namespace mlir::array

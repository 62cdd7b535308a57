// array-lower-masks: prepares 1-D vector code for the conversion to the LLVM dialect.
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERMASKS
#include "array/Cpu/Passes.h.inc"

namespace {

/// Whether the mask is known and selects only the first lane.
bool isFirstLane(Value mask) {
  if (auto constant = mask.getDefiningOp<vector::ConstantMaskOp>())
    return constant.getMaskDimSizes().front() == 1;
  if (auto created = mask.getDefiningOp<vector::CreateMaskOp>())
    return getConstantIntValue(created.getOperands().front()) == 1;
  DenseElementsAttr lanes;
  return matchPattern(mask, m_Constant(&lanes)) && *lanes.value_begin<bool>() &&
         llvm::count(lanes.getValues<bool>(), true) == 1;
}

/// Stores the lane as a scalar. LLVM does so itself, except for lanes that it holds in a wider type (for example the
/// ends of 32-bit integers): there it stores a whole wide lane, and overwrites the following element.
void storeFirstLane(vector::MaskedStoreOp op) {
  OpBuilder b(op);
  Value number = vector::ExtractOp::create(b, op.getLoc(), op.getValueToStore(), 0);
  memref::StoreOp::create(b, op.getLoc(), number, op.getBase(), op.getIndices());
  op.erase();
}

struct LowerMasks : impl::LowerMasksBase<LowerMasks> {
  void runOnOperation() override {
    getOperation().walk([](vector::MaskedStoreOp op) {
      if (isFirstLane(op.getMask()))
        storeFirstLane(op);
    });
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    // Lane numbers fit 32 bits: a register holds at most 64 lanes.
    vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace mlir::array

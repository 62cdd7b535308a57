// array-lower-masks: what makes 1-D vector code ready for the one conversion to the LLVM dialect.
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

/// The mask is known, and lets through the first lane only.
bool isFirstLane(Value mask) {
  if (auto constant = mask.getDefiningOp<vector::ConstantMaskOp>())
    return constant.getMaskDimSizes().front() == 1;
  if (auto created = mask.getDefiningOp<vector::CreateMaskOp>())
    return getConstantIntValue(created.getOperands().front()) == 1;
  DenseElementsAttr lanes;
  return matchPattern(mask, m_Constant(&lanes)) && *lanes.value_begin<bool>() &&
         llvm::count(lanes.getValues<bool>(), true) == 1;
}

/// Stores the lane as a number. LLVM does so by itself, but of numbers that it has in wider lanes (the ends of integers
/// of 32 bits, say) it stores a whole wide lane: it overwrites what follows.
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

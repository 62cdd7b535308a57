// array-lower-masks: what makes 1-D vector code ready for the one conversion to the LLVM dialect.
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERMASKS
#include "array/Transforms/Passes.h.inc"

namespace {

struct LowerMasks : impl::LowerMasksBase<LowerMasks> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    // Lane numbers fit 32 bits: a register holds at most 64 lanes.
    vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace mlir::array

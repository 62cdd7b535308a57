// array-lower-views: views become arithmetic on their offsets, by the patterns of upstream's expand-strided-metadata,
// and one that upstream does not have: one dimension of a buffer, split into several symbolic sizes. Upstream's pass
// makes its patterns anew for each module, and visits each operation; this one keeps them, and visits views. Before it:
// all passes that look through views.
#include "array/Bufferize/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERVIEWS
#include "array/Bufferize/Passes.h.inc"

namespace {

/// Whether a group has two sizes or more that are not constants.
bool isAmbiguous(memref::ExpandShapeOp expand) {
  ArrayRef<int64_t> shape = expand.getResultType().getShape();
  return llvm::any_of(expand.getReassociationIndices(), [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return ShapedType::isDynamic(shape[dim]); }) > 1;
  });
}

/// The same memory with the given sizes. The last dimension of a group has the stride of the split dimension.
void cut(memref::ExpandShapeOp expand, IRRewriter &rewriter) {
  Location loc = expand.getLoc();
  rewriter.setInsertionPoint(expand);
  auto source = memref::ExtractStridedMetadataOp::create(rewriter, loc, expand.getSrc());
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape(), strides(sizes.size());
  SmallVector<OpFoldResult> sourceStrides = source.getConstifiedMixedStrides();
  for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices())) {
    OpFoldResult stride = sourceStrides[dim];
    for (int64_t part : llvm::reverse(group)) {
      strides[part] = stride;
      if (part == group.front())
        break;
      auto size = getConstantIntValue(sizes[part]), step = getConstantIntValue(stride);
      if (size && step)
        stride = rewriter.getIndexAttr(*size * *step);
      else
        stride = arith::MulIOp::create(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, stride),
                                       getValueOrCreateConstantIndexOp(rewriter, loc, sizes[part]))
                     .getResult();
    }
  }
  Value view = memref::ReinterpretCastOp::create(rewriter, loc, source.getBaseBuffer(),
                                                 source.getConstifiedMixedOffset(), sizes, strides);
  if (view.getType() != expand.getType())
    view = memref::CastOp::create(rewriter, loc, expand.getType(), view);
  rewriter.replaceOp(expand, view);
}

struct LowerViews : impl::LowerViewsBase<LowerViews> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    memref::populateExpandStridedMetadataPatterns(all);
    patterns = std::make_shared<FrozenRewritePatternSet>(std::move(all));
    return success();
  }

  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> found;
    getOperation()->walk([&](memref::ExpandShapeOp expand) {
      if (isAmbiguous(expand))
        found.push_back(expand);
    });
    IRRewriter rewriter(&getContext());
    for (memref::ExpandShapeOp expand : found)
      cut(expand, rewriter);

    SmallVector<Operation *> views;
    getOperation()->walk([&](Operation *op) {
      if (isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp, memref::ExtractAlignedPointerAsIndexOp>(op))
        views.push_back(op);
    });
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    (void)applyOpPatternsGreedily(views, *patterns, config);
  }

  std::shared_ptr<FrozenRewritePatternSet> patterns;
};

} // namespace
} // namespace mlir::array

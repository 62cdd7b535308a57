// broadcast_in_dim, transpose, reverse: generics that read through a map, so that they fuse into consumers by composing
// maps. reshape: a view if possible.
#include "Lowering.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Yields its operand's element: the map does the work.
Value readThrough(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Value operand, AffineMap map) {
  return parallelGeneric(b, loc, getElementTypeOrSelf(operand), sizes, operand, map,
                         [](ImplicitLocOpBuilder &, ValueRange stored) { return stored[0]; });
}

/// A dimension of size 1 is read at 0 if it is static; a dynamic one is assumed to equal the result's.
struct BroadcastInDimLowering : OpConversionPattern<BroadcastInDimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto operand = cast<RankedTensorType>(op.getOperand().getType());
    auto result = cast<RankedTensorType>(op.getType());
    SmallVector<AffineExpr> reads;
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions())) {
      bool expands = operand.getDimSize(dim) == 1 && result.getDimSize(target) != 1;
      reads.push_back(expands ? rewriter.getAffineConstantExpr(0) : rewriter.getAffineDimExpr(target));
    }
    SmallVector<OpFoldResult> sizes = resultSizes(rewriter, op, adaptor);
    auto map = AffineMap::get(result.getRank(), 0, reads, rewriter.getContext());
    replaceTyped(rewriter, op, readThrough(rewriter, op.getLoc(), sizes, adaptor.getOperand(), map));
    return success();
  }

private:
  static SmallVector<OpFoldResult> resultSizes(OpBuilder &b, BroadcastInDimOp op, OpAdaptor adaptor) {
    auto result = cast<RankedTensorType>(op.getType());
    if (!adaptor.getOutputDims().empty() || result.hasStaticShape())
      return sizesFrom(b, result, adaptor.getOutputDims());
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), result.getShape());
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions()))
      if (result.isDynamicDim(target))
        sizes[target] = tensor::getMixedSize(b, op.getLoc(), adaptor.getOperand(), dim);
    return sizes;
  }
};

struct TransposeLowering : OpConversionPattern<TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TransposeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto result = cast<RankedTensorType>(op.getType());
    ArrayRef<int64_t> permutation = op.getPermutation();
    SmallVector<OpFoldResult> sizes;
    SmallVector<AffineExpr> reads(result.getRank());
    for (auto [dim, source] : llvm::enumerate(permutation)) {
      reads[source] = rewriter.getAffineDimExpr(dim);
      sizes.push_back(result.isDynamicDim(dim)
                          ? tensor::getMixedSize(rewriter, op.getLoc(), adaptor.getOperand(), source)
                          : OpFoldResult(rewriter.getIndexAttr(result.getDimSize(dim))));
    }
    auto map = AffineMap::get(result.getRank(), 0, reads, rewriter.getContext());
    replaceTyped(rewriter, op, readThrough(rewriter, op.getLoc(), sizes, adaptor.getOperand(), map));
    return success();
  }
};

/// A map if the sizes are known; else a computed index, because a map cannot contain a size.
struct ReverseLowering : OpConversionPattern<ReverseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ReverseOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto result = cast<RankedTensorType>(op.getType());
    Value operand = adaptor.getOperand();
    Location loc = op.getLoc();
    auto sizes = sizesLike(rewriter, loc, result, operand);
    auto isReversed = [&](int64_t dim) { return llvm::is_contained(op.getDimensions(), dim); };
    if (result.hasStaticShape()) {
      SmallVector<AffineExpr> reads;
      for (int64_t dim = 0; dim < result.getRank(); ++dim) {
        AffineExpr index = rewriter.getAffineDimExpr(dim);
        reads.push_back(isReversed(dim) ? result.getDimSize(dim) - 1 - index : index);
      }
      auto map = AffineMap::get(result.getRank(), 0, reads, rewriter.getContext());
      replaceTyped(rewriter, op, readThrough(rewriter, loc, sizes, operand, map));
      return success();
    }
    SmallVector<Value> last(result.getRank());
    for (int64_t dim : op.getDimensions()) {
      Value size = getValueOrCreateConstantIndexOp(rewriter, loc, tensor::getMixedSize(rewriter, loc, operand, dim));
      last[dim] = arith::SubIOp::create(rewriter, loc, size, arith::ConstantIndexOp::create(rewriter, loc, 1));
    }
    auto body = [&](ImplicitLocOpBuilder &b, ValueRange) -> Value {
      SmallVector<Value> indices;
      for (int64_t dim = 0; dim < result.getRank(); ++dim) {
        Value index = linalg::IndexOp::create(b, dim);
        indices.push_back(isReversed(dim) ? arith::SubIOp::create(b, last[dim], index).getResult() : index);
      }
      return tensor::ExtractOp::create(b, operand, indices);
    };
    replaceTyped(rewriter, op, parallelGeneric(rewriter, loc, getElementTypeOrSelf(operand), sizes, {}, {}, body));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

/// Both shapes, split into the shortest runs of dimensions with equal products.
struct CommonGroups {
  SmallVector<ReassociationIndices> source, target;
  SmallVector<int64_t> sizes;
};

CommonGroups commonGroups(ArrayRef<int64_t> source, ArrayRef<int64_t> target) {
  CommonGroups groups;
  size_t i = 0, j = 0;
  while (i < source.size() && j < target.size()) {
    ReassociationIndices from = {int64_t(i)}, to = {int64_t(j)};
    int64_t fromSize = source[i++], toSize = target[j++];
    while (fromSize != toSize) {
      if (fromSize < toSize) {
        from.push_back(i);
        fromSize *= source[i++];
      } else {
        to.push_back(j);
        toSize *= target[j++];
      }
    }
    groups.source.push_back(from);
    groups.target.push_back(to);
    groups.sizes.push_back(fromSize);
  }
  // The remaining dimensions of one side are ones.
  for (; i < source.size(); ++i)
    groups.source.back().push_back(i);
  for (; j < target.size(); ++j)
    groups.target.back().push_back(j);
  return groups;
}

bool groupsDims(ArrayRef<ReassociationIndices> groups) {
  return llvm::any_of(groups, [](const ReassociationIndices &group) { return group.size() > 1; });
}

Value collapse(OpBuilder &b, Location loc, Value value, ArrayRef<ReassociationIndices> groups) {
  return groupsDims(groups) ? tensor::CollapseShapeOp::create(b, loc, value, groups).getResult() : value;
}

/// To and from rank 0, which has no groups: all dimensions are ones.
Value reshapeStatic(OpBuilder &b, Location loc, Value value, RankedTensorType result) {
  auto source = cast<RankedTensorType>(value.getType());
  if (source.getRank() == 0 || result.getRank() == 0) {
    if (source.getRank() > 0)
      return tensor::CollapseShapeOp::create(b, loc, result, value, ArrayRef<ReassociationIndices>());
    return source == result ? value
                            : tensor::ExpandShapeOp::create(b, loc, result, value, ArrayRef<ReassociationIndices>());
  }
  CommonGroups groups = commonGroups(source.getShape(), result.getShape());
  Value grouped = collapse(b, loc, value, groups.source);
  return groupsDims(groups.target) ? tensor::ExpandShapeOp::create(b, loc, result, grouped, groups.target).getResult()
                                   : grouped;
}

ReassociationIndices allDims(int64_t rank) { return llvm::to_vector<2>(llvm::seq<int64_t>(0, rank)); }

/// The groups of two shapes with one dynamic size each. The dynamic sizes are equal if the other sizes have equal
/// products on both sides. None if they have not, or if the size is undetermined because there are no elements.
std::optional<CommonGroups> groupsAroundDynamic(ArrayRef<int64_t> source, ArrayRef<int64_t> target) {
  if (llvm::count(source, ShapedType::kDynamic) != 1 || llvm::count(target, ShapedType::kDynamic) != 1 ||
      llvm::is_contained(source, 0) || llvm::is_contained(target, 0))
    return std::nullopt;
  size_t from = llvm::find(source, ShapedType::kDynamic) - source.begin(),
         to = llvm::find(target, ShapedType::kDynamic) - target.begin();
  ArrayRef<int64_t> sourceLead = source.take_front(from), targetLead = target.take_front(to);
  ArrayRef<int64_t> sourceTail = source.drop_front(from + 1), targetTail = target.drop_front(to + 1);
  if (computeProduct(sourceLead) != computeProduct(targetLead) ||
      computeProduct(sourceTail) != computeProduct(targetTail))
    return std::nullopt;
  CommonGroups groups;
  if (!sourceLead.empty() && !targetLead.empty())
    groups = commonGroups(sourceLead, targetLead);
  auto range = [](int64_t first, int64_t last) { return llvm::to_vector<2>(llvm::seq<int64_t>(first, last)); };
  // Ones without a counterpart join the group of the dynamic size.
  bool leads = !groups.source.empty(), trails = !sourceTail.empty() && !targetTail.empty();
  groups.source.push_back(range(leads ? from : 0, trails ? from + 1 : source.size()));
  groups.target.push_back(range(leads ? to : 0, trails ? to + 1 : target.size()));
  if (trails) {
    CommonGroups behind = commonGroups(sourceTail, targetTail);
    auto shifted = [](ReassociationIndices group, int64_t by) {
      for (int64_t &dim : group)
        dim += by;
      return group;
    };
    for (auto [sourceGroup, targetGroup] : llvm::zip_equal(behind.source, behind.target)) {
      groups.source.push_back(shifted(sourceGroup, from + 1));
      groups.target.push_back(shifted(targetGroup, to + 1));
    }
  }
  return groups;
}

struct ReshapeLowering : OpConversionPattern<ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ReshapeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    auto source = cast<RankedTensorType>(operand.getType());
    RankedTensorType result = storageType(cast<RankedTensorType>(op.getType()));
    // Without elements, groups of equal products need not have equal sizes: such a view would have other sizes.
    bool sizesAreGiven = !adaptor.getOutputDims().empty() || result.hasStaticShape();
    if (llvm::is_contained(result.getShape(), 0) && sizesAreGiven) {
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, result, adaptor.getOutputDims());
      return success();
    }
    if (source.hasStaticShape() && result.hasStaticShape()) {
      rewriter.replaceOp(op, reshapeStatic(rewriter, loc, operand, result));
      return success();
    }
    auto groups = groupsAroundDynamic(source.getShape(), result.getShape());
    rewriter.replaceOp(op, groups ? inGroups(rewriter, loc, operand, result, *groups, adaptor.getOutputDims())
                                  : throughOneDim(rewriter, loc, operand, result, adaptor.getOutputDims()));
    return success();
  }

  /// The dynamic size does not change: that of the operand, or the given one.
  static Value inGroups(OpBuilder &b, Location loc, Value operand, RankedTensorType result, const CommonGroups &groups,
                        ValueRange dynamic) {
    Value grouped = collapse(b, loc, operand, groups.source);
    if (!groupsDims(groups.target))
      return grouped;
    SmallVector<Value> sizes(dynamic);
    if (sizes.empty()) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(grouped.getType()).getShape();
      int64_t dim = llvm::find(shape, ShapedType::kDynamic) - shape.begin();
      sizes.push_back(tensor::DimOp::create(b, loc, grouped, dim));
    }
    return tensor::ExpandShapeOp::create(b, loc, result, grouped, groups.target, sizesFrom(b, result, sizes));
  }

  /// Always a view of a dense tensor. A size that is not given follows from the number of elements.
  static Value throughOneDim(OpBuilder &b, Location loc, Value operand, RankedTensorType result, ValueRange dynamic) {
    Type element = result.getElementType();
    int64_t total = result.hasStaticShape() ? result.getNumElements() : ShapedType::kDynamic;
    int64_t sourceRank = cast<RankedTensorType>(operand.getType()).getRank();
    Value flat = operand;
    if (sourceRank > 1)
      flat = tensor::CollapseShapeOp::create(b, loc, operand, ArrayRef{allDims(sourceRank)});
    else if (sourceRank == 0)
      flat = tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get({1}, element), operand,
                                           ArrayRef<ReassociationIndices>());
    SmallVector<Value> sizes(dynamic);
    if (sizes.empty() && !result.hasStaticShape()) {
      int64_t known = 1;
      for (int64_t size : result.getShape())
        known *= ShapedType::isDynamic(size) ? 1 : std::max<int64_t>(size, 1);
      Value count = getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, flat, 0));
      sizes.push_back(arith::DivSIOp::create(b, loc, count, arith::ConstantIndexOp::create(b, loc, known)));
    }
    // A view has a static size only if its source has one.
    auto flatType = RankedTensorType::get({total}, element);
    if (flat.getType() != flatType)
      flat = tensor::CastOp::create(b, loc, flatType, flat);
    if (result.getRank() == 0)
      return tensor::CollapseShapeOp::create(b, loc, result, flat, ArrayRef<ReassociationIndices>());
    if (result.getRank() == 1)
      return flat;
    return tensor::ExpandShapeOp::create(b, loc, result, flat, ArrayRef{allDims(result.getRank())},
                                         sizesFrom(b, result, sizes));
  }
};

} // namespace

void array::populateMovement(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<BroadcastInDimLowering, TransposeLowering, ReverseLowering, ReshapeLowering>(converter,
                                                                                            patterns.getContext());
}

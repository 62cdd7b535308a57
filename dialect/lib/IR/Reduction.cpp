// Reductions, argmax and argmin: inference, folding, canonicalization.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

/// `type` without the dimensions `axes`.
static RankedTensorType withoutAxes(RankedTensorType type, ArrayRef<int64_t> axes, Type element) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(axes, int64_t(dim)))
      shape.push_back(size);
  return RankedTensorType::get(shape, element);
}

LogicalResult array::inferReduction(std::optional<Location> location, StringRef op, Type operand,
                                    ArrayRef<int64_t> axes, SmallVectorImpl<Type> &inferred) {
  auto tensor = cast<RankedTensorType>(operand);
  if (!areDistinctDims(axes, tensor.getRank()))
    return fail(location, op, "axes are ", listed(axes), ", expected distinct dimensions of ", tensor, " (C2)");
  inferred.push_back(withoutAxes(tensor, axes, tensor.getElementType()));
  return success();
}

OpFoldResult array::foldReduction(Value operand, ArrayRef<int64_t> axes, Type result) {
  return axes.empty() && operand.getType() == result ? OpFoldResult(operand) : OpFoldResult();
}

namespace {

/// A reduction along dimensions of size 1 only drops them, and a reshape does this without cost.
struct ReductionOfUnitDims : RewritePattern {
  ReductionOfUnitDims(StringRef op, MLIRContext *context) : RewritePattern(op, /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Value operand = op->getOperand(0);
    auto type = cast<RankedTensorType>(operand.getType());
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    ArrayRef<int64_t> axes = op->getAttrOfType<DenseI64ArrayAttr>("axes");
    bool areUnits = llvm::all_of(axes, [&](int64_t axis) { return type.getDimSize(axis) == 1; });
    // A dynamic size must follow from the number of elements.
    bool follows =
        result.hasStaticShape() || (result.getNumDynamicDims() == 1 && !llvm::is_contained(result.getShape(), 0));
    if (axes.empty() || !areUnits || !follows)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, operand, ValueRange());
    return success();
  }
};

} // namespace

void array::populateReductionCanonicalization(RewritePatternSet &patterns, StringRef op) {
  patterns.add<ReductionOfUnitDims>(op, patterns.getContext());
}

LogicalResult array::inferArgReduction(std::optional<Location> location, StringRef op, Type operand, int64_t axis,
                                       Type indexType, SmallVectorImpl<Type> &inferred) {
  auto tensor = cast<RankedTensorType>(operand);
  if (axis < 0 || axis >= tensor.getRank())
    return fail(location, op, "axis is ", axis, ", expected a dimension of ", tensor, " (C1)");
  if (tensor.getDimSize(axis) == 0)
    return fail(location, op, "dimension ", axis, " of ", tensor, " is empty (C2)");
  auto integer = dyn_cast<IntegerType>(indexType);
  if (!integer || integer.getWidth() < 8)
    return fail(location, op, "index_dtype is ", indexType, ", expected an integer type (C3)");
  inferred.push_back(withoutAxes(tensor, axis, indexType));
  return success();
}

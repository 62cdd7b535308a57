// Reductions, argmax and argmin: inference.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

/// `type` without the dimensions `axes`, which are in order.
static RankedTensorType withoutAxes(RankedTensorType type, ArrayRef<int64_t> axes, Type element) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(axes, int64_t(dim)))
      shape.push_back(size);
  return RankedTensorType::get(shape, element);
}

LogicalResult array::inferReduction(std::optional<Location> location, StringRef op, Type operand, ArrayRef<int64_t> axes,
                                    SmallVectorImpl<Type> &inferred) {
  auto tensor = cast<RankedTensorType>(operand);
  if (!areIncreasingDims(axes, tensor.getRank()))
    return fail(location, op, "axes are ", listed(axes), ", expected strictly increasing dimensions of ", tensor, " (C2)");
  inferred.push_back(withoutAxes(tensor, axes, tensor.getElementType()));
  return success();
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

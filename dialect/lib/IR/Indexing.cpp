// dynamic_slice, dynamic_update_slice: inference, folding.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

/// One start index for each dimension, all of one type.
static LogicalResult checkStarts(std::optional<Location> location, StringRef op, RankedTensorType operand,
                                 TypeRange starts, StringRef countConstraint, StringRef typeConstraint) {
  if (int64_t(starts.size()) != operand.getRank())
    return fail(location, op, "has ", starts.size(), " start indices, expected ", operand.getRank(), " for ", operand,
                " (", countConstraint, ")");
  if (!llvm::all_equal(starts))
    return fail(location, op, "start indices differ in element type: ", starts, " (", typeConstraint, ")");
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  TypeRange inputs = adaptor.getStartsAndSizes().getTypes();
  if (failed(checkLastSizes(location, getOperationName(), sizes, inputs, "C5")) ||
      failed(checkStarts(location, getOperationName(), operand, inputs.drop_back(countSizes(inputs)), "C1", "C2")))
    return failure();
  if (int64_t(sizes.size()) != operand.getRank())
    return fail(location, getOperationName(), "has ", sizes.size(), " slice_sizes, expected ", operand.getRank(),
                " for ", operand, " (C3)");
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (isBelow(size, 0) || (!operand.isDynamicDim(dim) && size > operand.getDimSize(dim)))
      return fail(location, getOperationName(), "takes ", size, " elements of dimension ", dim, " of ", operand,
                  ", expected 0 <= size of the slice <= size (C4)");
  inferred.push_back(operand.clone(sizes));
  return success();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
  if (operand.getRank() != update.getRank() || operand.getElementType() != update.getElementType())
    return fail(location, getOperationName(), "operand and update differ in rank or element type: ", operand, " and ",
                update, " (C1)");
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    if (!operand.isDynamicDim(dim) && !update.isDynamicDim(dim) && update.getDimSize(dim) > operand.getDimSize(dim))
      return fail(location, getOperationName(), "update is larger than the operand in dimension ", dim, ": ", update,
                  " into ", operand, " (C2)");
  inferred.push_back(operand);
  return checkStarts(location, getOperationName(), operand, adaptor.getStartIndices().getTypes(), "C3", "C4");
}

/// A block of the full size starts at 0, for any starts.
OpFoldResult DynamicSliceOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() && getType().hasStaticShape() ? OpFoldResult(getOperand())
                                                                           : OpFoldResult();
}

OpFoldResult DynamicUpdateSliceOp::fold(FoldAdaptor) {
  return getUpdate().getType() == getType() && getType().hasStaticShape() ? OpFoldResult(getUpdate()) : OpFoldResult();
}

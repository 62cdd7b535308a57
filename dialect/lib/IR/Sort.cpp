// sort, top_k: inference.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  TypeRange inputs = adaptor.getInputs().getTypes();
  if (inputs.empty())
    return fail(location, getOperationName(), "has no inputs, expected at least one (C1)");
  std::optional<SmallVector<int64_t>> shape = mergedShape(inputs);
  if (!shape)
    return fail(location, getOperationName(), "inputs differ in shape: ", inputs, " (C2)");
  if (adaptor.getDimension() >= shape->size())
    return fail(location, getOperationName(), "dimension is ", int64_t(adaptor.getDimension()),
                ", expected a dimension of ", inputs.front(), " (C3)");
  if (adaptor.getNumKeys() < 1 || adaptor.getNumKeys() > inputs.size())
    return fail(location, getOperationName(), "num_keys is ", int64_t(adaptor.getNumKeys()), ", expected 1 to ",
                inputs.size(), " (C4)");
  for (Type input : inputs)
    inferred.push_back(cast<RankedTensorType>(input).clone(*shape));
  return success();
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t axis = adaptor.getAxis(), k = adaptor.getK();
  if (axis < 0 || axis >= operand.getRank())
    return fail(location, getOperationName(), "axis is ", axis, ", expected a dimension of ", operand, " (C1)");
  if (failed(checkSizes(location, getOperationName(), {k}, adaptor.getSizes().size(), "C3")))
    return failure();
  if (isBelow(k, 0) || (!operand.isDynamicDim(axis) && k > operand.getDimSize(axis)))
    return fail(location, getOperationName(), "k is ", k, ", expected 0 to the size of dimension ", axis, " of ",
                operand, " (C2)");
  auto shape = llvm::to_vector(operand.getShape());
  shape[axis] = k;
  inferred.push_back(operand.clone(shape));
  inferred.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

// sort: inference.
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

// cumsum, cumprod, cummax, cummin, cumlogsumexp: inference.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

LogicalResult array::inferCumulative(std::optional<Location> location, StringRef op, Type operand, int64_t axis,
                                     SmallVectorImpl<Type> &inferred) {
  auto tensor = cast<RankedTensorType>(operand);
  if (axis < 0 || axis >= tensor.getRank())
    return fail(location, op, "axis is ", axis, ", expected a dimension of ", tensor, " (C1)");
  inferred.push_back(tensor);
  return success();
}

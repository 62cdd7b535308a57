// constant and iota: folding, verification.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult IotaOp::verify() {
  RankedTensorType result = getType();
  if (getDimension() >= uint64_t(result.getRank()))
    return emitOpError("dimension is ") << int64_t(getDimension()) << ", expected a dimension of " << result << " (C1)";
  if (getOutputDims().size() != result.getNumDynamicDims())
    return emitOpError("has ") << getOutputDims().size() << " output_dims, expected " << result.getNumDynamicDims()
                               << " for " << result << " (C2)";
  return success();
}

// broadcast_in_dim, reshape, transpose, slice, pad, concatenate, reverse: inference, verification.
#include "Inference.h"
#include "Windows.h"
#include "array/IR/Bytes.h"

using namespace mlir;
using namespace mlir::array;

/// `output_dims` has one operand for each dynamic dimension of the result, or is empty if `mayBeEmpty`.
static LogicalResult verifyOutputDims(Operation *op, ValueRange outputDims, RankedTensorType result, bool mayBeEmpty,
                                      StringRef constraint) {
  size_t count = outputDims.size();
  if (count == result.getNumDynamicDims() || (count == 0 && mayBeEmpty))
    return success();
  return op->emitOpError("has ") << count << " output_dims, expected " << result.getNumDynamicDims() << " for "
                                 << result << " (" << constraint << ")";
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (operand.getElementType() != result.getElementType())
    return emitOpError("element types of operand and result differ: ") << operand << " and " << result << " (C1)";
  if (int64_t(dims.size()) != operand.getRank())
    return emitOpError("has ") << dims.size() << " broadcast_dimensions, expected " << operand.getRank() << " for "
                               << operand << " (C2)";
  if (!areIncreasingDims(dims, result.getRank()))
    return emitOpError("broadcast_dimensions are ")
           << listed(dims) << ", expected strictly increasing dimensions of " << result << " (C3)";
  bool sizesFollow = true;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    int64_t size = operand.getDimSize(dim);
    if (size != 1 && !mergedSize(size, result.getDimSize(dims[dim])))
      return emitOpError("broadcasts dimension ")
             << dim << " of " << operand << " to dimension " << dims[dim] << " of " << result << " (C4)";
  }
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    const int64_t *source = llvm::find(dims, dim);
    sizesFollow &=
        !result.isDynamicDim(dim) || (source != dims.end() && operand.getDimSize(source - dims.begin()) != 1);
  }
  return verifyOutputDims(*this, getOutputDims(), result, sizesFollow, "C5");
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  if (operand.getElementType() != result.getElementType())
    return emitOpError("element types of operand and result differ: ") << operand << " and " << result << " (C1)";
  std::optional<int64_t> from = countElements(operand.getShape()), to = countElements(result.getShape());
  if (!from || !to)
    return emitOpError("reshapes ") << operand << " to " << result << ", which has more elements than 2**63 - 1 (C2)";
  bool areKnown = operand.hasStaticShape() && result.hasStaticShape();
  if (areKnown && *from != *to)
    return emitOpError("reshapes ") << *from << " elements of " << operand << " to " << *to << " of " << result
                                    << " (C2)";
  return verifyOutputDims(*this, getOutputDims(), result, result.getNumDynamicDims() <= 1, "C3");
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (int64_t(permutation.size()) != operand.getRank() || !areDistinctDims(permutation, operand.getRank()))
    return fail(location, getOperationName(), "permutation is ", listed(permutation),
                ", expected a permutation of the dimensions of ", operand, " (C1)");
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(operand.getDimSize(dim));
  inferred.push_back(operand.clone(shape));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> starts = adaptor.getStartIndices(), limits = adaptor.getLimitIndices(),
                    strides = adaptor.getStrides();
  size_t rank = operand.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return fail(location, getOperationName(), "has ", starts.size(), " start_indices, ", limits.size(),
                " limit_indices and ", strides.size(), " strides, expected ", rank, " of each for ", operand, " (C1)");
  if (failed(checkSizes(location, getOperationName(), {starts, limits}, adaptor.getSizes().size(), "C4")))
    return failure();
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t size = operand.getDimSize(dim), start = starts[dim], limit = limits[dim];
    auto isAbove = [](int64_t number, int64_t bound) { return !ShapedType::isDynamic(bound) && number > bound; };
    if (isBelow(start, 0) || isBelow(limit, 0) || isAbove(start, limit) || isAbove(start, size) || isAbove(limit, size))
      return fail(location, getOperationName(), "slices dimension ", dim, " of ", operand, " from ", spelled(start),
                  " to ", spelled(limit), ", expected 0 <= start <= limit <= size (C2)");
    if (strides[dim] < 1)
      return fail(location, getOperationName(), "stride of dimension ", dim, " is ", strides[dim],
                  ", expected at least 1 (C3)");
    auto count = [&](int64_t from, int64_t to) -> int64_t {
      return llvm::divideCeil(uint64_t(to - from), uint64_t(strides[dim]));
    };
    shape.push_back(ifKnown(count, start, limit));
  }
  inferred.push_back(operand.clone(shape));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto padding = cast<RankedTensorType>(adaptor.getPaddingValue().getType());
  if (padding.getRank() != 0 || padding.getElementType() != operand.getElementType())
    return fail(location, getOperationName(), "padding_value is ", padding,
                ", expected a scalar of the element type of ", operand, " (C1)");
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh(), interior = adaptor.getInterior();
  size_t rank = operand.getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return fail(location, getOperationName(), "has ", low.size(), " low, ", high.size(), " high and ", interior.size(),
                " interior, expected ", rank, " of each for ", operand, " (C2)");
  if (failed(checkSizes(location, getOperationName(), {low, high}, adaptor.getSizes().size(), "C5")))
    return failure();
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    if (interior[dim] < 0)
      return fail(location, getOperationName(), "interior padding of dimension ", dim, " is ", interior[dim],
                  ", expected at least 0 (C3)");
    auto paddedSize = [&](int64_t size, int64_t before, int64_t behind) {
      int64_t spread = addSizes(size, multiplySizes(std::max<int64_t>(size - 1, 0), interior[dim]));
      return addSizes(spread, addSizes(before, behind));
    };
    int64_t padded = ifKnown(paddedSize, operand.getDimSize(dim), low[dim], high[dim]);
    if (isBelow(padded, 0))
      return fail(location, getOperationName(), "result gets the size ", padded, " in dimension ", dim,
                  ", expected at least 0 (C4)");
    shape.push_back(padded);
  }
  inferred.push_back(operand.clone(shape));
  return success();
}

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &inferred) {
  TypeRange inputs = adaptor.getInputs().getTypes();
  if (inputs.empty())
    return fail(location, getOperationName(), "has no inputs, expected at least one (C1)");
  auto first = cast<RankedTensorType>(inputs.front());
  uint64_t dimension = adaptor.getDimension();
  int64_t rank = first.getRank();
  for (Type type : inputs) {
    auto input = cast<RankedTensorType>(type);
    if (input.getRank() != rank || input.getElementType() != first.getElementType())
      return fail(location, getOperationName(), "inputs differ in rank or element type: ", first, " and ", input,
                  " (C2)");
  }
  if (dimension >= uint64_t(rank))
    return fail(location, getOperationName(), "dimension is ", int64_t(dimension), ", expected a dimension of ", first,
                " (C3)");
  auto shape = llvm::to_vector(first.getShape());
  for (Type type : inputs.drop_front()) {
    auto input = cast<RankedTensorType>(type);
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t size = input.getDimSize(dim);
      if (dim == int64_t(dimension)) {
        bool isKnown = !ShapedType::isDynamic(shape[dim]) && !ShapedType::isDynamic(size);
        shape[dim] = isKnown ? addSizes(shape[dim], size) : ShapedType::kDynamic;
        continue;
      }
      std::optional<int64_t> merged = mergedSize(shape[dim], size);
      if (!merged)
        return fail(location, getOperationName(), "inputs differ in dimension ", dim, ": ", first, " and ", input,
                    " (C4)");
      shape[dim] = *merged;
    }
  }
  inferred.push_back(first.clone(shape));
  return success();
}

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!areDistinctDims(adaptor.getDimensions(), operand.getRank()))
    return fail(location, getOperationName(), "dimensions are ", listed(adaptor.getDimensions()),
                ", expected distinct dimensions of ", operand, " (C1)");
  inferred.push_back(operand);
  return success();
}

// Shapes with dynamic dimensions, and C0: the result types are compatible with the inferred ones.
#include "Inference.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::array;

std::string array::listed(ArrayRef<int64_t> numbers) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os);
  return text + "]";
}

std::optional<int64_t> array::mergedSize(int64_t lhs, int64_t rhs) {
  if (ShapedType::isDynamic(lhs))
    return rhs;
  if (ShapedType::isDynamic(rhs) || lhs == rhs)
    return lhs;
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> array::mergedShape(TypeRange tensors) {
  auto shape = llvm::to_vector(cast<ShapedType>(tensors.front()).getShape());
  for (Type tensor : tensors.drop_front()) {
    ArrayRef<int64_t> other = cast<ShapedType>(tensor).getShape();
    if (other.size() != shape.size())
      return std::nullopt;
    for (auto [size, otherSize] : llvm::zip_equal(shape, other)) {
      std::optional<int64_t> merged = mergedSize(size, otherSize);
      if (!merged)
        return std::nullopt;
      size = *merged;
    }
  }
  return shape;
}

bool array::areIncreasingDims(ArrayRef<int64_t> dims, int64_t rank) {
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (dim <= last || dim >= rank)
      return false;
    last = dim;
  }
  return true;
}

bool array::areDistinctDims(ArrayRef<int64_t> dims, int64_t rank) {
  auto sorted = llvm::to_vector(dims);
  llvm::sort(sorted);
  return areIncreasingDims(sorted, rank);
}

bool array::areCompatible(TypeRange inferred, TypeRange given) {
  if (inferred.size() != given.size())
    return false;
  return llvm::all_of(llvm::zip_equal(inferred, given), [](auto pair) {
    auto [lhs, rhs] = pair;
    if (lhs == rhs)
      return true;
    auto lhsTensor = dyn_cast<RankedTensorType>(lhs), rhsTensor = dyn_cast<RankedTensorType>(rhs);
    return lhsTensor && rhsTensor && lhsTensor.getElementType() == rhsTensor.getElementType() &&
           succeeded(verifyCompatibleShape(lhsTensor, rhsTensor));
  });
}

LogicalResult array::verifyInferredResults(Operation *op) {
  SmallVector<Type> inferred;
  if (failed(cast<InferTypeOpInterface>(op).inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                                             op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                                             op->getRegions(), inferred)))
    return failure();
  if (areCompatible(inferred, op->getResultTypes()))
    return success();
  return op->emitOpError("result types are ")
         << op->getResultTypes() << ", expected types compatible with " << TypeRange(inferred) << " (C0)";
}

// Shapes with dynamic dimensions, and C0: the result types are compatible with the inferred ones.
#include "Inference.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::array;

std::string array::spelled(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

std::string array::listed(ArrayRef<int64_t> numbers) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os, [&](int64_t number) { os << spelled(number); });
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

size_t array::countSizes(TypeRange operands) {
  size_t count = 0;
  while (count < operands.size() && isa<IndexType>(operands[operands.size() - 1 - count]))
    ++count;
  return count;
}

LogicalResult array::checkSizes(std::optional<Location> location, StringRef op, ArrayRef<ArrayRef<int64_t>> numbers,
                                size_t sizes, StringRef constraint) {
  size_t expected = 0;
  for (ArrayRef<int64_t> list : numbers)
    expected += llvm::count(list, ShapedType::kDynamic);
  if (sizes == expected)
    return success();
  return fail(location, op, "has ", sizes, " sizes, expected ", expected, ": one for each ? of its attributes (",
              constraint, ")");
}

LogicalResult array::checkLastSizes(std::optional<Location> location, StringRef op, ArrayRef<int64_t> numbers,
                                    TypeRange operands, StringRef constraint) {
  size_t sizes = countSizes(operands);
  if (llvm::any_of(operands.drop_back(sizes), llvm::IsaPred<IndexType>))
    return fail(location, op, "has ", operands, ", expected its sizes behind all other operands (", constraint, ")");
  return checkSizes(location, op, numbers, sizes, constraint);
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

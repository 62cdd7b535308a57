// See array/IR/Bytes.h.
#include "array/IR/Bytes.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

std::optional<int64_t> array::countElements(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  bool isEmpty = false;
  for (int64_t size : sizes) {
    if (size == 0)
      isEmpty = true;
    if (size == 0 || ShapedType::isDynamic(size))
      continue;
    std::optional<int64_t> product = llvm::checkedMul(count, size);
    if (size < 0 || !product)
      return std::nullopt;
    count = *product;
  }
  return isEmpty ? 0 : count;
}

int64_t array::bytesOfElement(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * bytesOfElement(complex.getElementType());
  if (auto vector = dyn_cast<VectorType>(element))
    return countBytes(vector).value_or(1);
  return element.isIntOrFloat() ? std::max<int64_t>(1, llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)) : 8;
}

std::optional<int64_t> array::countBytes(ShapedType type) {
  SmallVector<int64_t> sizes(type.getShape());
  sizes.push_back(bytesOfElement(type.getElementType()));
  return countElements(sizes);
}

// Sizes of matmuls as factors and symbols (BoundedSize.h).
#include "BoundedSize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

BoundedSize BoundedSize::of(OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return *number;
  Value value = cast<Value>(size);
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    return of(getAsOpFoldResult(product.getLhs())) * of(getAsOpFoldResult(product.getRhs()));
  return BoundedSize(value, factsOf(size));
}

BoundedSize BoundedSize::operator*(const BoundedSize &other) const {
  auto times = [](int64_t x, int64_t y) {
    int64_t result;
    return llvm::MulOverflow(x, y, result) ? std::numeric_limits<int64_t>::max() : result;
  };
  BoundedSize product(0);
  product.extent = extent * other.extent;
  product.facts = {times(facts.min, other.facts.min), times(facts.max, other.facts.max),
                   times(facts.multipleOf, other.facts.multipleOf), times(facts.expected, other.facts.expected)};
  return product;
}

BoundedSize BoundedSize::within(int64_t least, int64_t most) const {
  BoundedSize size = *this;
  size.facts.min = std::max(facts.min, least);
  size.facts.max = std::min(facts.max, most);
  size.facts.expected = std::clamp(facts.expected, size.facts.min, std::max(size.facts.min, size.facts.max));
  return size;
}

} // namespace mlir::array

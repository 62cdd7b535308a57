// Arithmetic on sizes and offsets that folds if all operands are constant. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_INDEXMATH_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_INDEXMATH_H

#include "Lowering.h"

namespace mlir::array {

class IndexMath {
public:
  IndexMath(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  OpFoldResult number(int64_t value) { return b.getIndexAttr(value); }
  SmallVector<OpFoldResult> numbers(ArrayRef<int64_t> values) { return getAsIndexOpFoldResult(b.getContext(), values); }
  /// Replaces each `?` by the next one of `sizes`, and removes it from there.
  SmallVector<OpFoldResult> numbers(ArrayRef<int64_t> values, ValueRange &sizes) {
    return llvm::map_to_vector(values, [&](int64_t value) {
      if (!ShapedType::isDynamic(value))
        return number(value);
      OpFoldResult size = getAsOpFoldResult(sizes.front());
      sizes = sizes.drop_front();
      return size;
    });
  }
  Value value(OpFoldResult operand) { return getValueOrCreateConstantIndexOp(b, loc, operand); }
  OpFoldResult size(Value tensor, int64_t dim) { return tensor::getMixedSize(b, loc, tensor, dim); }

  OpFoldResult add(OpFoldResult lhs, OpFoldResult rhs) {
    if (isZeroInteger(lhs) || isZeroInteger(rhs))
      return isZeroInteger(lhs) ? rhs : lhs;
    return fold<arith::AddIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x + y; });
  }
  OpFoldResult add(OpFoldResult lhs, int64_t rhs) { return add(lhs, number(rhs)); }
  OpFoldResult subtract(OpFoldResult lhs, OpFoldResult rhs) {
    if (isZeroInteger(rhs))
      return lhs;
    return fold<arith::SubIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x - y; });
  }
  OpFoldResult multiply(OpFoldResult lhs, int64_t rhs) {
    return rhs == 1 ? lhs : fold<arith::MulIOp>(lhs, number(rhs), [](int64_t x, int64_t y) { return x * y; });
  }
  /// Division of a non-negative number by a positive one, rounded down.
  OpFoldResult divide(OpFoldResult lhs, int64_t rhs) {
    return rhs == 1 ? lhs : fold<arith::DivSIOp>(lhs, number(rhs), [](int64_t x, int64_t y) { return x / y; });
  }
  /// Rounded up.
  OpFoldResult divideUp(OpFoldResult lhs, int64_t rhs) { return divide(add(lhs, rhs - 1), rhs); }
  OpFoldResult maximum(OpFoldResult lhs, int64_t rhs) {
    return fold<arith::MaxSIOp>(lhs, number(rhs), [](int64_t x, int64_t y) { return std::max(x, y); });
  }
  OpFoldResult minimum(OpFoldResult lhs, OpFoldResult rhs) {
    return fold<arith::MinSIOp>(lhs, rhs, [](int64_t x, int64_t y) { return std::min(x, y); });
  }

  /// The size with `dilation - 1` gaps between neighbours.
  OpFoldResult dilated(OpFoldResult size, int64_t dilation) {
    return dilation == 1 ? size : maximum(add(multiply(size, dilation), 1 - dilation), 0); // the maximum is for 0
  }
  /// How many windows fit, `stride` apart.
  OpFoldResult countWindows(OpFoldResult padded, OpFoldResult window, int64_t stride) {
    return divide(maximum(add(subtract(padded, window), stride), 0), stride);
  }

private:
  template <typename Op, typename Function> OpFoldResult fold(OpFoldResult lhs, OpFoldResult rhs, Function function) {
    auto x = getConstantIntValue(lhs), y = getConstantIntValue(rhs);
    if (x && y)
      return number(function(*x, *y));
    return Op::create(b, loc, value(lhs), value(rhs)).getResult();
  }

  OpBuilder &b;
  Location loc;
};

/// The sizes of a result: those of its type if static, else the computed ones.
SmallVector<OpFoldResult> knownSizes(OpBuilder &b, RankedTensorType result, ArrayRef<OpFoldResult> computed);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_INDEXMATH_H

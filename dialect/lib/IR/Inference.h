// Shared functions of inference and verification: shapes with dynamic dimensions, and errors. Private to this
// directory.
#ifndef ARRAY_LIB_IR_INFERENCE_H
#define ARRAY_LIB_IR_INFERENCE_H

#include "array/IR/Array.h"

namespace mlir::array {

/// Reports "'array.add' op <message>" if a location is given. Inference without a location must be silent.
template <typename... Args> LogicalResult fail(std::optional<Location> location, StringRef op, Args &&...message) {
  return emitOptionalError(location, "'", op, "' op ", std::forward<Args>(message)...);
}

/// "?" for a dynamic one.
std::string spelled(int64_t size);

/// "[0, ?]".
std::string listed(ArrayRef<int64_t> numbers);

/// The common size: the static one if one is dynamic; none if they differ.
std::optional<int64_t> mergedSize(int64_t lhs, int64_t rhs);

/// The common shape, with every size that one of them has; none if they are incompatible.
std::optional<SmallVector<int64_t>> mergedShape(TypeRange tensors);

/// Strictly increasing and within [0, rank).
bool areIncreasingDims(ArrayRef<int64_t> dims, int64_t rank);

/// Whether elements of a type may have this result type: the same type, or a wider one of the same kind.
bool isSameOrWider(Type element, Type result);

/// Checks that `sizes` has one entry for each `?` in the numbers, and reports an error otherwise.
LogicalResult checkSizes(std::optional<Location> location, StringRef op, ArrayRef<ArrayRef<int64_t>> numbers,
                         size_t sizes, StringRef constraint);

/// Checks that the last operands of an op are sizes, one for each `?` in the numbers, and reports an error otherwise.
LogicalResult checkLastSizes(std::optional<Location> location, StringRef op, ArrayRef<int64_t> numbers,
                             TypeRange operands, StringRef constraint);

/// The number of last operands that are sizes.
size_t countSizes(TypeRange operands);

/// Whether a number, if static, is below a bound.
inline bool isBelow(int64_t number, int64_t bound) { return !ShapedType::isDynamic(number) && number < bound; }

/// `function` of the numbers, if all of them are static; else dynamic.
template <typename Function, typename... Numbers> int64_t ifKnown(Function function, Numbers... numbers) {
  return (ShapedType::isDynamic(numbers) || ...) ? ShapedType::kDynamic : function(numbers...);
}

/// Distinct and within [0, rank).
bool areDistinctDims(ArrayRef<int64_t> dims, int64_t rank);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_INFERENCE_H

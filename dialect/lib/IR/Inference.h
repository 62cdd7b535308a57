// What the inference and verification of all families share: shapes with dynamic dimensions, and errors. Private to
// this directory.
#ifndef ARRAY_LIB_IR_INFERENCE_H
#define ARRAY_LIB_IR_INFERENCE_H

#include "array/IR/Array.h"

namespace mlir::array {

/// Reports "'array.add' op <message>" where a location is known, as inference without one has to stay silent.
template <typename... Args> LogicalResult fail(std::optional<Location> location, StringRef op, Args &&...message) {
  return emitOptionalError(location, "'", op, "' op ", std::forward<Args>(message)...);
}

/// "?" for a dynamic one.
std::string spelled(int64_t size);

/// "[0, ?]".
std::string listed(ArrayRef<int64_t> numbers);

/// The size that both have, the known one if one is dynamic; nothing if they differ.
std::optional<int64_t> mergedSize(int64_t lhs, int64_t rhs);

/// The shape that all have, with every size that one of them knows; nothing if they are incompatible.
std::optional<SmallVector<int64_t>> mergedShape(TypeRange tensors);

/// Strictly increasing and within [0, rank).
bool areIncreasingDims(ArrayRef<int64_t> dims, int64_t rank);

/// Whether what is made of elements of a type can be of another: the same, or a wider one of the same kind.
bool isSameOrWider(Type element, Type result);

/// Whether there is one of `sizes` for each `?` in the numbers; reports it otherwise.
LogicalResult checkSizes(std::optional<Location> location, StringRef op, ArrayRef<ArrayRef<int64_t>> numbers,
                         size_t sizes, StringRef constraint);

/// Sizes are the last of an op's operands: as many as there are `?` in the numbers, and no others. Reports it
/// otherwise.
LogicalResult checkLastSizes(std::optional<Location> location, StringRef op, ArrayRef<int64_t> numbers,
                             TypeRange operands, StringRef constraint);

/// How many of the last operands are sizes.
size_t countSizes(TypeRange operands);

/// Whether a number that is known is below a bound.
inline bool isBelow(int64_t number, int64_t bound) { return !ShapedType::isDynamic(number) && number < bound; }

/// `function` of the numbers, which is known if all of them are.
template <typename Function, typename... Numbers> int64_t ifKnown(Function function, Numbers... numbers) {
  return (ShapedType::isDynamic(numbers) || ...) ? ShapedType::kDynamic : function(numbers...);
}

/// Distinct and within [0, rank).
bool areDistinctDims(ArrayRef<int64_t> dims, int64_t rank);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_INFERENCE_H

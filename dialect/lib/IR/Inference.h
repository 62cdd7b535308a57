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

/// "[0, 1]".
std::string listed(ArrayRef<int64_t> numbers);

/// The size that both have, the known one if one is dynamic; nothing if they differ.
std::optional<int64_t> mergedSize(int64_t lhs, int64_t rhs);

/// The shape that all have, with every size that one of them knows; nothing if they are incompatible.
std::optional<SmallVector<int64_t>> mergedShape(TypeRange tensors);

/// Strictly increasing and within [0, rank).
bool areIncreasingDims(ArrayRef<int64_t> dims, int64_t rank);

/// Whether what is made of elements of a type can be of another: the same, or a wider one of the same kind.
bool isSameOrWider(Type element, Type result);

/// Distinct and within [0, rank).
bool areDistinctDims(ArrayRef<int64_t> dims, int64_t rank);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_INFERENCE_H

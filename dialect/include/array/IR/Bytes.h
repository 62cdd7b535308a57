// The limit on the bytes of an array, shared by verifiers, memory plans and tools. Only this file multiplies sizes for
// it.
#ifndef ARRAY_IR_BYTES_H
#define ARRAY_IR_BYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace mlir::array {

/// The product of the sizes. None if a size is negative, or if the product of the non-zero sizes is 2**63 or more,
/// because strides are such products. Dynamic sizes count as one.
std::optional<int64_t> countElements(ArrayRef<int64_t> sizes);

/// The bytes of an element in memory: at least one. A complex number counts both parts.
int64_t bytesOfElement(Type element);

/// The bytes of a tensor or a buffer; none if they are 2**63 or more.
std::optional<int64_t> countBytes(ShapedType type);

} // namespace mlir::array

#endif // ARRAY_IR_BYTES_H

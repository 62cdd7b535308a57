// How many bytes an array may have: one limit for verifiers, plans of memory and tools, and the one place that
// multiplies sizes for it.
#ifndef ARRAY_IR_BYTES_H
#define ARRAY_IR_BYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace mlir::array {

/// The product of the sizes; nothing if that of those which are not 0 is not below 2**63, as strides are products too,
/// or if a size is negative. Dynamic sizes count as one.
std::optional<int64_t> countElements(ArrayRef<int64_t> sizes);

/// The bytes of an element as it is stored: at least one, and those of both parts of a complex number.
int64_t bytesOfElement(Type element);

/// The bytes of a tensor or a buffer; nothing where they are not below 2**63.
std::optional<int64_t> countBytes(ShapedType type);

} // namespace mlir::array

#endif // ARRAY_IR_BYTES_H

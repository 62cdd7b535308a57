// array.precision: a reduced precision that the program allows for the factors of a matmul or a convolution. It stands
// on array.dot_general and array.conv_general_dilated. Lowering copies it to the linalg ops that they become.
#ifndef ARRAY_IR_PRECISION_H
#define ARRAY_IR_PRECISION_H

#include "mlir/IR/Operation.h"

namespace mlir::array {

/// "tf32": factors of f32 may be rounded to 10 bits of mantissa. A target on which f32 is as fast ignores it.
inline constexpr StringLiteral kPrecisionAttr = "array.precision";

/// Emits an error if `op` has an unknown precision.
LogicalResult verifyPrecision(Operation *op);

/// Whether the factors of `op` may be rounded to tf32.
bool allowsTf32(Operation *op);

/// Copies the precision of `from`, if any, to `to`.
void handOnPrecision(Operation *from, Operation *to);

} // namespace mlir::array

#endif // ARRAY_IR_PRECISION_H

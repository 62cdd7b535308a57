// array.precision: with how few bits a product or a convolution may take its factors, where somebody asks for less than
// it is given. It stands on array.dot_general and array.conv_general_dilated, and is handed on to the linalg ops that
// they become.
#ifndef ARRAY_IR_PRECISION_H
#define ARRAY_IR_PRECISION_H

#include "mlir/IR/Operation.h"

namespace mlir::array {

/// "tf32": factors of f32 may be rounded to 10 bits of mantissa. Who multiplies in f32 as fast does not.
inline constexpr StringLiteral kPrecisionAttr = "array.precision";

/// Emits an error where `op` asks for a precision that there is not.
LogicalResult verifyPrecision(Operation *op);

/// Whether the factors of `op` may be rounded to tf32.
bool allowsTf32(Operation *op);

/// Gives `to` the precision that is asked of `from`, if one is.
void handOnPrecision(Operation *from, Operation *to);

} // namespace mlir::array

#endif // ARRAY_IR_PRECISION_H

// Recognition of contractions on buffers, and of operations between two uses of a buffer, for the passes that replace
// contractions by calls.
#ifndef ARRAY_LIB_ANALYSIS_CONTRACTIONFORM_H
#define ARRAY_LIB_ANALYSIS_CONTRACTIONFORM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::array {

/// The two values that a body multiplies and adds to its sum, as floats or integers, in the order of the
/// multiplication; none for any other body.
std::optional<std::pair<Value, Value>> multipliedFactors(Block *body);

/// True for a body `yield(acc + lhs * rhs)` on f32 or f64, with the factors and the terms in either order.
bool isMultiplyAdd(Block *body);

/// Whether each factor is signed, for a body that widens two bytes to i32 and adds their product.
std::optional<std::pair<bool, bool>> matchBytes(Block *body);

/// True for a body that widens two floats and adds their product.
bool widensFloats(Block *body);

/// True for a body that widens two bf16 to f32 and adds their product.
bool isBFloat16MultiplyAdd(Block *body);

/// Whether two buffers may share elements. Distinct allocations and arguments of the function never overlap: the
/// entry's buffers are distinct by contract.
bool mayOverlap(Value x, Value y);

/// Whether `op` may write to `buffer`.
bool mayWrite(Operation *op, Value buffer);

/// Whether `op` may read or write `buffer`. Calls are those that these passes emitted, or routines: they touch their
/// operands only.
bool mayTouch(Operation *op, Value buffer);

/// The fill with zeros that determines the contents of `c` at `op`, if one is found.
linalg::FillOp findZeroFill(linalg::LinalgOp op, Value c);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_CONTRACTIONFORM_H

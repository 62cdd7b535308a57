// array.plan: how a product or a convolution is to be cut, where somebody knows better than the cost model. It stands
// on array.dot_general and array.conv_general_dilated, and is handed on to the linalg ops that they become.
#ifndef ARRAY_IR_PLAN_H
#define ARRAY_IR_PLAN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::array {

/// A dictionary. What it does not say is left to the cost model, and so is what the layout of the operands does not
/// allow: a plan is a wish about time, and never makes a program wrong. Its keys:
///   strategy      "tiles" of accumulators in registers, "stream" (the right operand is read once, in the order of
///                 memory), or "loops" (no call: array-vectorize-linalg)
///   packing       "copied" to panels, "once" by the first tile that reads a panel, or "in-place"
///   tile_rows, tile_vectors   the accumulators
///   rows, columns, depth      of a block; depth decides on the order of sums
///   slab          bytes of the part of a convolution's operand that is kept in the cache
inline constexpr StringLiteral kPlanAttr = "array.plan";

/// Emits an error where `op` has a plan that says nothing sensible.
LogicalResult verifyPlan(Operation *op);

/// What the plan of `op` says; `otherwise` where it says nothing, or there is none.
int64_t planned(Operation *op, StringRef key, int64_t otherwise);
StringRef planned(Operation *op, StringRef key, StringRef otherwise);

/// Gives `to` the plan of `from`, if it has one.
void handOnPlan(Operation *from, Operation *to);

} // namespace mlir::array

#endif // ARRAY_IR_PLAN_H

// array.plan: the plan of a matmul or a convolution, which overrides the cost model. It stands on array.dot_general and
// array.conv_general_dilated. Lowering copies it to the linalg ops that they become.
#ifndef ARRAY_IR_PLAN_H
#define ARRAY_IR_PLAN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::array {

/// A dictionary. The cost model chooses every entry that is absent, and every entry that the layout of the operands
/// does not allow. A plan affects time, and by `depth` the order of sums. array-schedule-matmuls and
/// array-schedule-convolutions write the choices. The keys:
///
///   strategy      "tiles" of accumulators in registers, "stream" (the right operand is read once, in the order of
///                 memory), "dot2" (an instruction multiplies pairs), or "loops" (no call: array-vectorize-linalg)
///   packing       "copied" to panels, "once" by the first tile that reads a panel, or "in-place"
///   tile_rows     rows of the tile of accumulators
///   tile_vectors  its columns, in vector registers
///   rows          rows of a block
///   columns       columns of a block
///   depth         terms of a block: this decides the order of sums
///   slab          bytes of the part of a convolution's operand that is kept in the cache
inline constexpr StringLiteral kPlanAttr = "array.plan";

/// Emits an error if `op` has an invalid plan.
LogicalResult verifyPlan(Operation *op);

/// The entry `key` of the plan of `op`; `otherwise` if the plan or the entry is absent.
int64_t planned(Operation *op, StringRef key, int64_t otherwise);
StringRef planned(Operation *op, StringRef key, StringRef otherwise);

/// Copies the plan of `from`, if any, to `to`.
void handOnPlan(Operation *from, Operation *to);

} // namespace mlir::array

#endif // ARRAY_IR_PLAN_H

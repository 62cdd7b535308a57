// Lowers one contraction to the blocked matmul that Matmul.h emits. Private to this directory.
#ifndef ARRAY_LIB_CPU_MATMUL_CONTRACTIONLOWERING_H
#define ARRAY_LIB_CPU_MATMUL_CONTRACTIONLOWERING_H

#include "MatmulSchedule.h"

namespace mlir::array {

/// Replaces `op` by calls, by a schedule that is not Loops. `product` is the form of `op`, with sums of
/// `element`.
void emitContraction(linalg::LinalgOp op, const MatmulForm &product, const MatmulSchedule &schedule, Type element);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_CONTRACTIONLOWERING_H

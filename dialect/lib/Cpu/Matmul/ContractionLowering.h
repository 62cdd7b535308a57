// One contraction as the blocked product that Matmul.h emits. Private to this directory.
#ifndef ARRAY_LIB_CPU_MATMUL_CONTRACTIONLOWERING_H
#define ARRAY_LIB_CPU_MATMUL_CONTRACTIONLOWERING_H

#include "MatmulCut.h"

namespace mlir::array {

/// Replaces `op`, which reads as `product` with sums of `element`, by calls cut as `cut` says: no loops.
void emitContraction(linalg::LinalgOp op, MatmulForm &product, const MatmulCut &cut, Type element);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_CONTRACTIONLOWERING_H

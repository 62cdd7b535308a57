// Decides which operands of a program on tensors are computed in place: upstream's one-shot analysis, after a fast
// check of each operand that mostly suffices (InPlaceAnalysis.cpp). Bufferize.cpp has the passes.
#ifndef ARRAY_LIB_BUFFERIZE_INPLACEANALYSIS_H
#define ARRAY_LIB_BUFFERIZE_INPLACEANALYSIS_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"

namespace mlir::array {

/// Decides for all operands in `root`, the operation of `state`. For programs of at most `shortProgram` operations on
/// tensors, upstream's analysis decides everything.
LogicalResult analyzeInPlace(Operation *root, bufferization::OneShotAnalysisState &state, int64_t shortProgram);

} // namespace mlir::array

#endif // ARRAY_LIB_BUFFERIZE_INPLACEANALYSIS_H

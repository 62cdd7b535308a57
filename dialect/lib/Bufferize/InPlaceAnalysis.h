// Which operands of a program on tensors are computed in place: upstream's one-shot analysis with a first look at each
// operand that mostly suffices (InPlaceAnalysis.cpp). Bufferize.cpp has the passes.
#ifndef ARRAY_LIB_BUFFERIZE_INPLACEANALYSIS_H
#define ARRAY_LIB_BUFFERIZE_INPLACEANALYSIS_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"

namespace mlir::array {

/// Decides for all operands in `root`, which is all that `state` is of. Of programs of up to `shortProgram` operations
/// on tensors upstream's analysis decides everything.
LogicalResult analyzeInPlace(Operation *root, bufferization::OneShotAnalysisState &state, int64_t shortProgram);

} // namespace mlir::array

#endif // ARRAY_LIB_BUFFERIZE_INPLACEANALYSIS_H

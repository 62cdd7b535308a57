// What the files of array-prepare-loops share. Private to this directory.
#ifndef ARRAY_TRANSFORMS_PREPARELOOPS_H
#define ARRAY_TRANSFORMS_PREPARELOOPS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::array::prepare {

/// Replaces an scf.while, scf.for or scf.if by one that carries and returns in registers what has no dimensions: a
/// counter, a tolerance, a key. Returns the new op.
Operation *carryScalars(RewriterBase &rewriter, Operation *op);

/// Patterns that compute scalars of bodies in registers.
void populateScalars(RewritePatternSet &patterns);

} // namespace mlir::array::prepare

#endif // ARRAY_TRANSFORMS_PREPARELOOPS_H

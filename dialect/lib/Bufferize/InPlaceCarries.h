// What the files of array-in-place-carries share. Private to this directory.
#ifndef ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H
#define ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::array::prepare {

/// One tensor of a loop's carry: what it is in an iteration, and what it becomes; `yielded` is where the yield says so.
struct Update {
  OpOperand *yielded;
  Value current;
  Value next;
};

/// The tensors of a loop's carry that are passed on from one iteration to the next.
SmallVector<Update> updatesOf(Operation *loop);

/// Makes one step of as many as it takes for each tensor of a carry that hands its values on to be where it was.
/// Returns the loops that are there then: the loop, and one for the steps that are left over.
SmallVector<Operation *> unrollRotations(Operation *loop);

/// A carry that a sum is added to becomes what the sum starts with: the gradient of a weight is accumulated where it
/// is.
void accumulateInPlace(RewriterBase &rewriter, Operation *loop);

/// Replaces an scf.while, scf.for or scf.if by one that carries and returns in registers what has no dimensions: a
/// counter, a tolerance, a key. Returns the new op.
Operation *carryScalars(RewriterBase &rewriter, Operation *op);

/// Patterns that compute scalars of bodies in registers.
void populateScalars(RewritePatternSet &patterns);

} // namespace mlir::array::prepare

#endif // ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H

// Shared declarations of the files of array-in-place-carries. Private to this directory.
#ifndef ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H
#define ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::array::prepare {

/// One tensor of a loop's carry: its current value in an iteration, and its next one; `yielded` is the operand of the
/// yield.
struct Update {
  OpOperand *yielded;
  Value current;
  Value next;
};

/// The tensors of a loop's carry that are passed on from one iteration to the next.
SmallVector<Update> updatesOf(Operation *loop);

/// If a carry passes its values on, unrolls the loop by the number of steps after which each tensor is in its place
/// again. Returns the resulting loops: the loop, and one for the remaining steps.
SmallVector<Operation *> unrollRotations(Operation *loop);

/// Starts a sum with the carry that it is added to: the gradient of a weight is accumulated in place.
void accumulateInPlace(RewriterBase &rewriter, Operation *loop);

/// Reads small parts of a tensor before parts of it are overwritten, in the blocks of a loop or a conditional.
void readBeforeWrites(RewriterBase &rewriter, Operation *op);

/// Replaces an scf.while, scf.for or scf.if by one that carries and returns values without dimensions in registers: a
/// counter, a tolerance, a key. Returns the new op.
Operation *carryScalars(RewriterBase &rewriter, Operation *op);

/// Patterns that compute scalars of bodies in registers.
void populateScalars(RewritePatternSet &patterns);

} // namespace mlir::array::prepare

#endif // ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H

// Shared declarations of the files of array-in-place-carries. Private to this directory.
#ifndef ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H
#define ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::array::prepare {

/// A part counts as small if it has at most the tensor's elements divided by this: its copy replaces one of the tensor.
constexpr int64_t kLeastParts = 4;

/// One tensor of a loop's carry: its current value in an iteration, and its next one; `yielded` is the operand of the
/// yield.
struct Update {
  OpOperand *yielded;
  Value current;
  Value next;
};

/// The tensors of a loop's carry that are passed on from one iteration to the next.
SmallVector<Update> updatesOf(Operation *loop);

/// The source tensor of a view.
Value viewedTensor(Value tensor);

/// The tensor in whose memory an op computes its result; null if there is none. `init` is set if it is that of a loop.
Value startOf(OpResult result, OpOperand *&init);

/// The tensors from which bufferization may take the memory of a value: sources of views, tensors that it is computed
/// in place of, and values that a branch or an iteration yields.
llvm::SetVector<Value> originsOf(Value value);

/// The tensor, and values that may share its memory: its views, and values computed in its place. Values that follow
/// from `last`, or exist in the next iteration, are excluded.
llvm::SetVector<Value> derivedFrom(Value tensor, Operation *last);

/// Whether all other reads of the tensor, or of values that may share its memory, come before `last`. Reads inside
/// `last` are allowed if it is a conditional, since a branch reads before it writes.
bool isReadBefore(Value tensor, Operation *last);

/// Whether slices of one tensor are known to have no element in common.
bool areDisjoint(tensor::ExtractSliceOp read, tensor::InsertSliceOp written);

/// The insertions of a block by which a tensor becomes the next value, in their order.
SmallVector<tensor::InsertSliceOp> insertionsFrom(Value tensor, Block *block);

/// Whether the current value is read after a part of the next one was written to the empty tensor: by an insertion, or
/// by an iteration of a loop that starts with it. A slice that no insertion has changed yet does not count, but is
/// found: the next value of a stencil is inserted part by part, and each part reads its own elements of the current
/// one.
bool isReadAfterItsPart(Value current, tensor::EmptyOp empty, SmallVectorImpl<OpOperand *> &ofSlices);

/// Reads slices of the current value from the next one, as far as it is there: to bufferization, a read of the current
/// value after an insertion would be a conflict.
void readFromInsertions(RewriterBase &rewriter, ArrayRef<tensor::InsertSliceOp> insertions,
                        ArrayRef<OpOperand *> ofSlices);

/// Computes each inserted part in the place of the elements that it reads from there, if it is elementwise in them.
void computePartsInPlace(RewriterBase &rewriter, ArrayRef<tensor::InsertSliceOp> insertions);
/// The same for all parts in an op that read no other elements of the tensor.
void computePartsInPlace(RewriterBase &rewriter, Operation *root);

/// Whether an elementwise op reads elements of a tensor other than those that its result takes the place of: all, or
/// those of an insertion. (A small slice does not count: it is copied before the tensor changes.)
bool readsOthers(linalg::LinalgOp op, Value tensor, tensor::InsertSliceOp insertion);

/// If a carry passes its values on, or its values are computed in two buffers in turns, unrolls the loop by the number
/// of steps after which each tensor is in its place again.
void unrollRotations(RewriterBase &rewriter, scf::ForOp loop);
/// Two steps become one if values are computed in two buffers in turns. The second step is a branch.
void unrollTurns(RewriterBase &rewriter, scf::WhileOp loop);

/// Computes carries of at least so many elements in two buffers in turns, if a step can't compute them in place. Two
/// steps must then become one. Returns the loop, or null if there are none. Some get a second carry, which holds the
/// value of the step before: the last carries of the loop, of those with the numbers `formers`.
Operation *takeTurns(RewriterBase &rewriter, Operation *loop, int64_t leastElements,
                     SmallVectorImpl<unsigned> &formers);

/// Starts a sum with the carry that it is added to: the gradient of a weight is accumulated in place.
void accumulateInPlace(RewriterBase &rewriter, Operation *loop);

/// Reads small parts of a tensor before parts of it are overwritten, in the blocks of a loop or a conditional.
void readBeforeWrites(RewriterBase &rewriter, Operation *op);

/// Replaces an scf.while, scf.for or scf.if by one that carries and returns values without dimensions in registers: a
/// counter, a tolerance, a key.
void carryScalars(RewriterBase &rewriter, Operation *op);

/// Patterns that compute scalars of bodies in registers.
void populateScalars(RewritePatternSet &patterns);

} // namespace mlir::array::prepare

#endif // ARRAY_LIB_BUFFERIZE_INPLACECARRIES_H

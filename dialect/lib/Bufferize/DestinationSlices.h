// The slice of a destination that an inserted value is computed in: the replacement for its empty tensor.
#ifndef ARRAY_LIB_BUFFERIZE_DESTINATIONSLICES_H
#define ARRAY_LIB_BUFFERIZE_DESTINATIONSLICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

namespace mlir::array {

/// The order of operations in their blocks, while a rewriter inserts, moves and erases some of them. MLIR numbers a
/// whole block anew for the first question after each move. Here only the moved operation gets a new number.
class BlockOrder : public RewriterBase::Listener {
public:
  /// Whether `op` stands before `other`, which is in the same block.
  bool isBefore(Operation *op, Operation *other) { return number(op) < number(other); }
  /// Whether the results of `op` are there at `point`, which can be in a region of a later operation.
  bool isAvailable(Operation *op, Operation *point);

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override;
  void notifyOperationErased(Operation *op) override { numbers.erase(op); }

private:
  uint64_t number(Operation *op);
  void numberBlock(Block *block);

  DenseMap<Operation *, uint64_t> numbers;
};

/// The part of its destination that `insertion` changes, as the operand of `user` in the place of `empty`. The values
/// that it needs are moved before `user` if they are computed later. Null if that is impossible. It is
/// bufferization::buildSubsetExtraction with an order of its own: that one takes the square of the number of
/// operations in a program. `rewriter` has `order` as its listener.
Value sliceOfDestination(RewriterBase &rewriter, BlockOrder &order, SubsetInsertionOpInterface insertion,
                         tensor::EmptyOp empty, Operation *user);

} // namespace mlir::array

#endif // ARRAY_LIB_BUFFERIZE_DESTINATIONSLICES_H

// The uses of a buffer, through views and control flow, in program order. Private to this directory.
#ifndef ARRAY_LIB_ANALYSIS_BUFFERUSES_H
#define ARRAY_LIB_ANALYSIS_BUFFERUSES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::array {

/// The buffer and all values that may share its memory: views, and the values to which loops and branches pass these.
llvm::SetVector<Value> viewsOf(Value buffer);

/// The uses of a buffer as operations of one block.
struct BlockUses {
  /// The first and the last operation of the block that uses the buffer, itself or in a nested region; null if there is
  /// none. Allocations and operations that only make views do not count.
  Operation *first = nullptr;
  Operation *last = nullptr;
  /// Whether all uses are in the block, and none leaves it through its terminator.
  bool isLocal = true;
};

BlockUses usesIn(Block &block, Value buffer);

/// The buffer of a view; a value that is not a view is returned unchanged.
Value viewedBuffer(Value view);

/// Whether a buffer overlaps no other one: an allocation, or an argument of the function.
bool isMemoryOfItsOwn(Value buffer);

/// Whether an op may read or write a buffer that overlaps no other one, and whether it may write it.
bool mayUseMemory(Operation *op, Value buffer);
bool mayWriteMemory(Operation *op, Value buffer);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_BUFFERUSES_H

// Where a buffer is used, through views and control flow, and when. Private to this directory.
#ifndef ARRAY_LIB_ANALYSIS_BUFFERUSES_H
#define ARRAY_LIB_ANALYSIS_BUFFERUSES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::array {

/// The buffer and everything that may be in its memory: views, and what loops and branches pass on of these.
llvm::SetVector<Value> viewsOf(Value buffer);

/// The uses of a buffer as operations of one block.
struct BlockUses {
  /// The first and the last operation of the block that uses the buffer, itself or inside of it; null for none. Neither
  /// allocations nor what only makes a view counts.
  Operation *first = nullptr;
  Operation *last = nullptr;
  /// Whether all uses are in the block, and none leaves it through its terminator.
  bool isLocal = true;
};

BlockUses usesIn(Block &block, Value buffer);

/// The buffer that a view was made of, itself for what is no view.
Value viewedBuffer(Value view);

/// Whether a buffer overlaps with no other one: an allocation, an argument of the function.
bool isMemoryOfItsOwn(Value buffer);

/// Whether an op may read or write a buffer that is memory of its own, and whether it may write it.
bool mayUseMemory(Operation *op, Value buffer);
bool mayWriteMemory(Operation *op, Value buffer);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_BUFFERUSES_H

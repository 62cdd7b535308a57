// Temporaries: allocations, their lifetimes in a function, and places for them in one buffer. array-plan-memory plans
// the arena, and the private memory of loops over grids, with them; array-map-kernels-to-gpu, the memory of blocks.
#ifndef ARRAY_LIB_BUFFERIZE_TEMPORARIES_H
#define ARRAY_LIB_BUFFERIZE_TEMPORARIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace mlir::array {

/// One temporary: it is live from operation `first` to operation `last`, both included, numbered in program order.
struct Temporary {
  memref::AllocOp alloc;
  int64_t bytes; ///< 0 when a call decides them
  int64_t first;
  int64_t last;
  int64_t offset = 0;

  bool livesWith(const Temporary &other) const { return first <= other.last && other.first <= last; }
};

/// An allocation, and the values that may share its memory.
struct Allocation {
  memref::AllocOp alloc;
  llvm::SetVector<Value> views;
};

/// Whether its number of bytes is symbolic.
inline bool isSized(const Temporary &temporary) {
  return temporary.bytes == 0 && memref::AllocOp(temporary.alloc).getType().getNumDynamicDims() != 0;
}

/// Reports an error for an allocation that the planner can't place.
LogicalResult checkAlloc(const Allocation &allocation);

/// The temporaries of a function. Also erases the deallocations, and the allocations without uses.
SmallVector<Temporary> findLifetimes(func::FuncOp function, ArrayRef<Allocation> allocations);

/// Places the largest temporary first, each at the lowest offset that is free during its lifetime. Returns the bytes of
/// all; none if they overflow.
std::optional<int64_t> assignOffsets(MutableArrayRef<Temporary> temporaries);

/// A temporary as a view of the buffer that holds it, at its offset or at the one that is given.
void replaceByView(const Temporary &temporary, Value buffer, Value offset = {});

/// Gives the iterations of the loops over the grids of kernels memory of their own, and shares these loops among
/// threads.
void planGrids(func::FuncOp function);

} // namespace mlir::array

#endif // ARRAY_LIB_BUFFERIZE_TEMPORARIES_H

// Calls from @main through the call frame's table (runtime/include/runtime/Abi.h), for the passes that lower calls of
// the runtime: array-lower-runtime-calls for library routines, array-lower-launches for a device.
#ifndef ARRAY_LIB_ENTRY_TABLECALLS_H
#define ARRAY_LIB_ENTRY_TABLECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Emits calls in one function, whose structured control flow is lowered. Stack space is taken once, in the entry
/// block, so that a call in a loop does not grow it.
class TableCalls {
public:
  /// Gives the function the frame as an argument and a status as its result, if it lacks them.
  explicit TableCalls(func::FuncOp function);

  /// Places the following operations before `op`, with its location.
  ImplicitLocOpBuilder &before(Operation *op);
  Value frame() const { return frameArgument; }

  Value constant(int64_t value, unsigned bits);
  /// Stack space, aligned to 16 bytes.
  Value reserve(int64_t bytes);
  /// Stores a value `offset` bytes after a pointer.
  void store(Value value, Value base, int64_t offset);
  /// A pointer to the first element of a buffer, or to an element with a given number in its memory.
  Value pointerTo(Value buffer);
  Value pointerTo(Value buffer, Value element);

  /// Calls the routine in a slot, by its offset in the table, with the frame and these operands. Operations after `op`
  /// run only if the call succeeds. A failure is returned with the call-site id of `op`.
  void call(Operation *op, int64_t slot, ArrayRef<Value> operands);
  /// Splits the block before `op`. If the condition holds, the function returns the status; otherwise `op` runs.
  void leaveIf(Value condition, Operation *op, llvm::function_ref<Value()> makeStatus);

private:
  ImplicitLocOpBuilder builder;
  Block *entry;
  Value frameArgument;
};

} // namespace mlir::array

#endif // ARRAY_LIB_ENTRY_TABLECALLS_H

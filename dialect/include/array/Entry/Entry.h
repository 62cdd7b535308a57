// The roles of @main's arguments once it is a function on buffers. array-prepare-entry, array-plan-memory and
// array-lower-runtime-calls mark the arguments that they add, and array-emit-entry maps them to the call frame.
#ifndef ARRAY_ENTRY_ENTRY_H
#define ARRAY_ENTRY_ENTRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mlir::array {

/// The name of the C entry in the object.
inline constexpr llvm::StringLiteral kEntryName = "pcrt_main";

/// The function attribute that holds the size of the arena.
inline constexpr llvm::StringLiteral kArenaBytesAttr = "array.arena_bytes";

/// The attribute of an allocation of which only the first bytes are used: their number.
inline constexpr llvm::StringLiteral kTouchedBytesAttr = "array.touched_bytes";

/// The attribute of a view of the arena: the numbers that array-plan-memory gives to the first and the last operation
/// that uses the view, and the bytes of the view.
inline constexpr llvm::StringLiteral kLiveAttr = "array.live";

/// The function attribute that holds, for each argument of @main, the result that takes its memory, or -1. The caller
/// donates the argument, and passes its buffer as that of the result.
inline constexpr llvm::StringLiteral kDonatedAttr = "array.donated";

/// The attribute of a module whose loops of unknown length have a budget: @main returns PCRT_OUT_OF_BUDGET when the
/// frame's budget is used up, and can then run again.
inline constexpr llvm::StringLiteral kLoopBudgetAttr = "array.loop_budget";

/// The attribute of an argument whose buffer is written.
inline constexpr llvm::StringLiteral kWrittenAttr = "array.written";

/// The mark of kernels. array-vectorize-linalg emits the loops of fused ops into an `scf.execute_region` with this
/// mark. array-outline-kernels makes the region a function, or replaces it by its operations. The functions have the
/// mark, too: they take buffers as @main does, and array-emit-entry turns these into pointers.
inline constexpr llvm::StringLiteral kKernelAttr = "array.kernel";

/// The mark of private functions that are equal in every module that has them: they may be compiled separately.
inline constexpr llvm::StringLiteral kUnitAttr = "array.unit";

enum class EntryRole { Argument, Result, Arena, Frame };

/// Marks argument `index` of `function` by the argument attribute `array.role`.
void setEntryRole(func::FuncOp function, unsigned index, EntryRole role);

/// The mark of argument `index`, or none.
std::optional<EntryRole> getEntryRole(func::FuncOp function, unsigned index);

/// The call frame among the arguments of `function`. The argument is added if there is none.
Value takeFrame(func::FuncOp function);

/// The LLVM attributes of a pointer that stands for an argument with a role: no alias, its alignment, and read-only for
/// arguments. `type` is null for the frame.
DictionaryAttr describePointer(Builder &builder, EntryRole role, MemRefType type, bool isWritten);

/// Asks LLVM to inline a function with a single call and few arguments.
void inlineIntoCaller(func::FuncOp function);

/// Turns `value`, an argument of type `type`, into a pointer, and rebuilds a memref from it for its users.
void takePointer(OpBuilder &builder, BlockArgument value, MemRefType type);

/// The address `bytes` after `base`, both of type !llvm.ptr; and the pointer that is stored there.
Value offsetPointer(OpBuilder &builder, Location loc, Value base, int64_t bytes);
Value loadPointer(OpBuilder &builder, Location loc, Value base, int64_t bytes);

} // namespace mlir::array

#endif // ARRAY_ENTRY_ENTRY_H

// What each argument of @main means, once it is a function on buffers: array-prepare-entry, array-plan-memory and
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

/// The attribute of an allocation of which only so many bytes, the first ones, are touched.
inline constexpr llvm::StringLiteral kTouchedBytesAttr = "array.touched_bytes";

/// The attribute of a view of the arena: the first and the last operation that uses it, as array-plan-memory numbers
/// them, and its bytes.
inline constexpr llvm::StringLiteral kLiveAttr = "array.live";

/// The function attribute that holds, for each argument of @main, the result that is computed in its memory, or -1: the
/// caller gives up the argument, and passes its buffer as that of the result.
inline constexpr llvm::StringLiteral kDonatedAttr = "array.donated";

/// The attribute of a module whose loops of unknown length count what they do: @main returns PCRT_OUT_OF_BUDGET when
/// its frame's budget is used up, and can then be run again.
inline constexpr llvm::StringLiteral kLoopBudgetAttr = "array.loop_budget";

/// The argument attribute of one that is written.
inline constexpr llvm::StringLiteral kWrittenAttr = "array.written";

/// Kernels: what array-vectorize-linalg emits for ops that share loops stands in an `scf.execute_region` with this
/// mark, until array-outline-kernels makes a function of it or puts the operations in its place. The functions have the
/// mark too: they take buffers as @main does, and array-emit-entry makes pointers of them.
inline constexpr llvm::StringLiteral kKernelAttr = "array.kernel";

/// The mark of private functions that say the same in every module that has them: they may be compiled on their own.
inline constexpr llvm::StringLiteral kUnitAttr = "array.unit";

enum class EntryRole { Argument, Result, Arena, Frame };

/// Marks argument `index` of `function`; it is the argument attribute `array.role`.
void setEntryRole(func::FuncOp function, unsigned index, EntryRole role);

/// The mark of argument `index`, or nothing when it has none.
std::optional<EntryRole> getEntryRole(func::FuncOp function, unsigned index);

/// The call frame among the arguments of `function`: the argument with its role, which is added where there is none.
Value takeFrame(func::FuncOp function);

/// What LLVM may assume of a pointer that stands for an argument with a role: that it is the only way to its buffer,
/// its alignment, and that arguments are only read. `type` is null for the frame.
DictionaryAttr describePointer(Builder &builder, EntryRole role, MemRefType type, bool isWritten);

/// Has LLVM put a function that is called in one place there, in the end, if it takes few arguments.
void inlineIntoCaller(func::FuncOp function);

/// Turns `value`, an argument of type `type`, into a pointer, from which a memref is made for its users.
void takePointer(OpBuilder &builder, BlockArgument value, MemRefType type);

/// The address `bytes` after `base`, both of type !llvm.ptr; and the pointer that is stored there.
Value offsetPointer(OpBuilder &builder, Location loc, Value base, int64_t bytes);
Value loadPointer(OpBuilder &builder, Location loc, Value base, int64_t bytes);

} // namespace mlir::array

#endif // ARRAY_ENTRY_ENTRY_H

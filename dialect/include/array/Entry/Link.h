// Modules made of others: one module's functions are called by another's. Before it: the dialect; after it: the
// bindings, for modules that were exported or imported.
#ifndef ARRAY_ENTRY_LINK_H
#define ARRAY_ENTRY_LINK_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::array {

/// The type of the function `name` of a module. On failure a diagnostic has been emitted, which names the functions
/// that are there.
FailureOr<FunctionType> functionTypeOf(ModuleOp module, StringRef name);

/// Checks a module that comes from elsewhere, which a pipeline will compile: array-check-input. On failure a diagnostic
/// has been emitted.
LogicalResult checkInput(ModuleOp module);

/// Gives `into` a copy of every function of `from`, of the same context: private, and of names that are free in both.
/// Which arguments are donated is the caller's to say, and forgotten. They are checked as `checkInput` does. Returns
/// the new name of `entry`. On failure a diagnostic has been emitted, and `into` is as it was.
FailureOr<StringAttr> linkFunctions(ModuleOp into, ModuleOp from, StringRef entry);

} // namespace mlir::array

#endif // ARRAY_ENTRY_LINK_H

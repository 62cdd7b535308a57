// Linking of modules: functions of one module become callable from another. Before it: the dialect. After it: the
// bindings, for exported and imported modules.
#ifndef ARRAY_ENTRY_LINK_H
#define ARRAY_ENTRY_LINK_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::array {

/// The type of the function `name` of a module. On failure it emits a diagnostic that lists the functions of the
/// module.
FailureOr<FunctionType> functionTypeOf(ModuleOp module, StringRef name);

/// Checks a module from a file before a pipeline compiles it: array-check-input. On failure a diagnostic has been
/// emitted.
LogicalResult checkInput(ModuleOp module);

/// Copies every function of `from` into `into`, which has the same context. The copies are private, and their names are
/// free in both modules. Donation marks are dropped, because the caller decides about donation. The functions are
/// checked as in `checkInput`. Returns the new name of `entry`. On failure a diagnostic has been emitted, and `into` is
/// unchanged.
FailureOr<StringAttr> linkFunctions(ModuleOp into, ModuleOp from, StringRef entry);

} // namespace mlir::array

#endif // ARRAY_ENTRY_LINK_H

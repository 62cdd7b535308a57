// Functions of a module that the build has compiled: the module only declares them.
#ifndef ARRAY_ENTRY_BUILTFUNCTIONS_H
#define ARRAY_ENTRY_BUILTFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::array {

/// The module attribute with the names of the functions that the build has compiled for the machine, a dictionary.
inline constexpr llvm::StringLiteral kBuiltAttr = "array.built";

} // namespace mlir::array

#endif // ARRAY_ENTRY_BUILTFUNCTIONS_H

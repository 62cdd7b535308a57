// Shared functions: parts of programs whose text does not depend on the program, since their sizes and strides are
// arguments: those of GemmKernels.h and TransposeFunction.h. A module defines what it calls; but for machines of the
// common kinds the build compiles them (lib/Target/BuiltFunctions.cpp), and a module declares them.
#ifndef ARRAY_TRANSFORMS_SHAREDFUNCTIONS_H
#define ARRAY_TRANSFORMS_SHAREDFUNCTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::array {

/// The module attribute with the names of the functions that the build has compiled for the machine, a dictionary.
inline constexpr llvm::StringLiteral kBuiltAttr = "array.built";

/// Adds the shared functions that the build compiles, for registers of `vectorBits`.
void addCommonFunctions(ModuleOp module, unsigned vectorBits);

} // namespace mlir::array

#endif // ARRAY_TRANSFORMS_SHAREDFUNCTIONS_H

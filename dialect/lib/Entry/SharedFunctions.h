// Shared functions: parts of programs whose code does not depend on the program, because their sizes and strides are
// arguments. They are in Cpu/Matmul/MatmulKernels.h and Cpu/Loops/TransposeFunction.h. A module defines the ones that
// it calls. For common machines the build compiles them (array/Cpu/CommonFunctions.h), and a module declares them.
#ifndef ARRAY_LIB_ENTRY_SHAREDFUNCTIONS_H
#define ARRAY_LIB_ENTRY_SHAREDFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Adds the function `name` at the position of `b`, which moves to the start of its body. If the build has compiled the
/// function, adds only a declaration.
func::FuncOp addSharedFunction(ImplicitLocOpBuilder &b, StringRef name, TypeRange arguments);

} // namespace mlir::array

#endif // ARRAY_LIB_ENTRY_SHAREDFUNCTIONS_H

// Shared functions: parts of programs whose text does not depend on the program, since their sizes and strides are
// arguments: those of Cpu/Matmul/MatmulKernels.h and Cpu/Loops/TransposeFunction.h. A module defines what it calls; but
// for machines of the common kinds the build compiles them (array/Cpu/CommonFunctions.h), and a module declares them.
#ifndef ARRAY_LIB_ENTRY_SHAREDFUNCTIONS_H
#define ARRAY_LIB_ENTRY_SHAREDFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Adds the function `name` where `b` stands, which is then at the start of its body. Of a function that the build has
/// compiled there is only a declaration.
func::FuncOp addSharedFunction(ImplicitLocOpBuilder &b, StringRef name, TypeRange arguments);

} // namespace mlir::array

#endif // ARRAY_LIB_ENTRY_SHAREDFUNCTIONS_H

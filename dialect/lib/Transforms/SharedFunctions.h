// Adding shared functions (array/Transforms/SharedFunctions.h) to a module. Private to this directory.
#ifndef ARRAY_LIB_TRANSFORMS_SHAREDFUNCTIONS_H
#define ARRAY_LIB_TRANSFORMS_SHAREDFUNCTIONS_H

#include "array/Transforms/SharedFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Adds the function `name` where `b` stands, which is then at the start of its body. Of a function that the build has
/// compiled there is only a declaration.
func::FuncOp addSharedFunction(ImplicitLocOpBuilder &b, StringRef name, TypeRange arguments);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_SHAREDFUNCTIONS_H

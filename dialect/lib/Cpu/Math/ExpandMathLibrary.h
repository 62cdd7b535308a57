// Calls of the C library's scalar functions, lane by lane for vectors: for cases that are too rare for a formula.
#ifndef ARRAY_LIB_CPU_MATH_EXPANDMATHLIBRARY_H
#define ARRAY_LIB_CPU_MATH_EXPANDMATHLIBRARY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Calls `name` (with the suffix f for f32) on scalars or 1-D vectors of f32 or f64. The loop over a vector's lanes is
/// a function of the module, built once for each function and vector type. Names are those of
/// runtime/include/runtime/Symbols.def.
Value callMathLibrary(ImplicitLocOpBuilder &b, ModuleOp module, StringRef name, ValueRange operands);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATH_EXPANDMATHLIBRARY_H

// Passes that generate CPU code from operations on buffers: lib/Cpu. Constructors and registration.
#ifndef ARRAY_CPU_PASSES_H
#define ARRAY_CPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {

#define GEN_PASS_DECL
#include "array/Cpu/Passes.h.inc"

} // namespace mlir::array

#endif // ARRAY_CPU_PASSES_H

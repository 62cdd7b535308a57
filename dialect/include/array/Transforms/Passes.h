// Passes on tensors: lib/Transforms. Constructors and registration.
#ifndef ARRAY_TRANSFORMS_PASSES_H
#define ARRAY_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {

#define GEN_PASS_DECL
#include "array/Transforms/Passes.h.inc"

} // namespace mlir::array

#endif // ARRAY_TRANSFORMS_PASSES_H

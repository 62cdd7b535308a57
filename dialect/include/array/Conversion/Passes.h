// Declares the conversions out of the array dialect. Before it: array modules as emit builds them; after it:
// array-fuse-elementwise and the pipelines, which get linalg on tensors.
#ifndef ARRAY_CONVERSION_PASSES_H
#define ARRAY_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::array {

#define GEN_PASS_DECL
#include "array/Conversion/Passes.h.inc"

} // namespace mlir::array

#endif // ARRAY_CONVERSION_PASSES_H

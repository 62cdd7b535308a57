// Passes around bufferization, and on the memory of buffers: lib/Bufferize. Constructors and registration.
#ifndef ARRAY_BUFFERIZE_PASSES_H
#define ARRAY_BUFFERIZE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {

#define GEN_PASS_DECL
#include "array/Bufferize/Passes.h.inc"

} // namespace mlir::array

#endif // ARRAY_BUFFERIZE_PASSES_H

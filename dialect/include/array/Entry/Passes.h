// Passes that turn functions on tensors into the entry that the runtime calls: lib/Entry. Constructors and
// registration.
#ifndef ARRAY_ENTRY_PASSES_H
#define ARRAY_ENTRY_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {

#define GEN_PASS_DECL
#include "array/Entry/Passes.h.inc"

} // namespace mlir::array

#endif // ARRAY_ENTRY_PASSES_H

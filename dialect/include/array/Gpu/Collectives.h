// The pass on collectives for GPUs: its constructor. lib/Pipelines/Passes.cpp registers it.
#ifndef ARRAY_GPU_COLLECTIVES_H
#define ARRAY_GPU_COLLECTIVES_H

#include "array/IR/Array.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {

#define GEN_PASS_DECL
#include "array/Gpu/Collectives.h.inc"

} // namespace mlir::array

#endif // ARRAY_GPU_COLLECTIVES_H

// The pass on collectives for GPUs: constructor and registration.
#ifndef ARRAY_GPU_COLLECTIVES_H
#define ARRAY_GPU_COLLECTIVES_H

#include "array/IR/Array.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "array/Gpu/Collectives.h.inc"

} // namespace mlir::array

#endif // ARRAY_GPU_COLLECTIVES_H

// The passes of lib/Gpu: constructors and registration. lib/Pipelines/Gpu.cpp puts them in order.
#ifndef ARRAY_GPU_PASSES_H
#define ARRAY_GPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::array {

#define GEN_PASS_DECL
#include "array/Gpu/Passes.h.inc"

} // namespace mlir::array

#endif // ARRAY_GPU_PASSES_H

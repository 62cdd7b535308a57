// What @main does to memory between launches, for the passes that give it to the device: array-launch-stores,
// array-predicate-launches, array-sink-loads.
#ifndef ARRAY_LIB_GPU_HOST_HOSTACCESSES_H
#define ARRAY_LIB_GPU_HOST_HOSTACCESSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Whether an op can be done by the device at a later time, if nothing it loads is overwritten until then.
bool isMovable(Operation *op);

/// Whether a value was computed, by movable operations, of what is loaded.
bool dependsOnLoad(Value value);

/// A launch of one thread, whose body `emit` fills.
gpu::LaunchOp launchThread(ImplicitLocOpBuilder &b, StringRef name,
                           llvm::function_ref<void(ImplicitLocOpBuilder &)> emit);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_HOST_HOSTACCESSES_H

// Memory accesses of @main between launches, for the passes that move them to the device: array-launch-stores,
// array-predicate-launches, array-sink-loads.
#ifndef ARRAY_LIB_GPU_HOST_HOSTACCESSES_H
#define ARRAY_LIB_GPU_HOST_HOSTACCESSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// Whether the device can execute an op later, if none of its loaded values is overwritten until then.
bool isMovable(Operation *op);

/// Whether a value follows, by movable operations, from a load.
bool dependsOnLoad(Value value);

/// Makes a launch of one thread, whose body `emit` fills.
gpu::LaunchOp launchThread(ImplicitLocOpBuilder &b, StringRef name,
                           llvm::function_ref<void(ImplicitLocOpBuilder &)> emit);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_HOST_HOSTACCESSES_H

// The lowering of kernels' bodies and parameters for array-emulate-gpu.
#ifndef ARRAY_LIB_GPU_EMULATION_EMULATEGPUBODY_H
#define ARRAY_LIB_GPU_EMULATION_EMULATEGPUBODY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::array {

/// Matrix instructions and asynchronous copies become shuffles and arithmetic.
LogicalResult expandInstructions(gpu::GPUModuleOp module);

/// Gives the body of a kernel the form of an `EmulatedKernel`: its block's arguments are the thread and the parameters,
/// and no operation of the GPU dialect is left. Returns the bytes of shared memory that a block needs. Afterwards the
/// kernel is not a valid `gpu.func`.
FailureOr<int64_t> emulateBody(gpu::GPUFuncOp kernel);

/// Fails, with an error that names it, if the CPU cannot run an operation.
LogicalResult checkBody(FunctionOpInterface function);

/// The bytes of a kernel's parameter in the memory that its pointer in `params` names.
int64_t parameterBytes(Type type);

/// Stores the operands of a launch in the form that a kernel reads; returns `params`.
Value storeParameters(ImplicitLocOpBuilder &b, gpu::LaunchFuncOp launch);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_EMULATION_EMULATEGPUBODY_H

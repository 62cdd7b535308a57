// Attributes by which the passes of lib/Gpu and lib/Target describe a module's kernels to each other.
#ifndef ARRAY_GPU_KERNELS_H
#define ARRAY_GPU_KERNELS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::array {

/// The attribute of a `gpu.launch`: the name of its kernel.
inline constexpr llvm::StringLiteral kLaunchNameAttr = "array.launch_name";

/// The attribute of a `gpu.launch`: the minimum number of its blocks that must fit on a multiprocessor at once.
inline constexpr llvm::StringLiteral kResidentBlocksAttr = "array.resident_blocks";

/// The attribute of a module with kernels: their names, in the order of their numbers.
inline constexpr llvm::StringLiteral kKernelNamesAttr = "array.kernels";

/// The attribute of a module whose @main waits for values that the device computes.
inline constexpr llvm::StringLiteral kWaitsAttr = "array.waits";

/// The attribute of an `array.runtime_call` that a GPU library computes: the library's name, "cublaslt".
inline constexpr llvm::StringLiteral kLibraryAttr = "array.library";

} // namespace mlir::array

#endif // ARRAY_GPU_KERNELS_H

// What the passes of lib/Gpu and lib/Target tell each other of a module's kernels.
#ifndef ARRAY_GPU_KERNELS_H
#define ARRAY_GPU_KERNELS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::array {

/// The attribute of a `gpu.launch`: what its kernel is called.
inline constexpr llvm::StringLiteral kLaunchNameAttr = "array.launch_name";

/// The attribute of a `gpu.launch`: how many of its blocks are to have room on a processor at once, at least.
inline constexpr llvm::StringLiteral kResidentBlocksAttr = "array.resident_blocks";

/// The attribute of a module with kernels: their names, in the order of their numbers.
inline constexpr llvm::StringLiteral kKernelNamesAttr = "array.kernels";

/// The attribute of a module whose @main waits for what a device has computed, before it can go on.
inline constexpr llvm::StringLiteral kWaitsAttr = "array.waits";

/// The attribute of an `array.runtime_call` that a library of the GPU's maker does: the library's name, "cublaslt".
inline constexpr llvm::StringLiteral kLibraryAttr = "array.library";

} // namespace mlir::array

#endif // ARRAY_GPU_KERNELS_H

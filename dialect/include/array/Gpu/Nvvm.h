// The NVVM and NVGPU dialects, for files that should not include the headers of both: they take some seconds to parse.
// lib/Gpu/Kernels/ConvertKernelsToNvvm.cpp defines the functions.
#ifndef ARRAY_GPU_NVVM_H
#define ARRAY_GPU_NVVM_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::array {

/// Registers the dialects of a GPU's instructions.
void registerNvvmDialects(DialectRegistry &registry);

/// The attribute of a kernel: the minimum number of its blocks that must fit on a multiprocessor at once.
llvm::StringRef minBlocksAttrName();

} // namespace mlir::array

#endif // ARRAY_GPU_NVVM_H

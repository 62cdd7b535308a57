// The pipelines for GPUs, one of them named. lib/Pipelines/Gpu.cpp reads top to bottom.
#ifndef ARRAY_PIPELINES_GPU_H
#define ARRAY_PIPELINES_GPU_H

#include "array/Pipelines/Cpu.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::array {

// The supported chips, each with the oldest PTX version that supports it. Code for sm_90a and sm_100a runs on that
// generation alone.
#define ARRAY_GPU_CHIPS(X)                                                                                             \
  X(sm_75, "+ptx65")                                                                                                   \
  X(sm_80, "+ptx70")                                                                                                   \
  X(sm_86, "+ptx71")                                                                                                   \
  X(sm_89, "+ptx78")                                                                                                   \
  X(sm_90, "+ptx78")                                                                                                   \
  X(sm_90a, "+ptx80")                                                                                                  \
  X(sm_100, "+ptx86")                                                                                                  \
  X(sm_100a, "+ptx86")

enum class GpuChip {
#define ARRAY_GPU_CHIP(name, feature) name,
  ARRAY_GPU_CHIPS(ARRAY_GPU_CHIP)
#undef ARRAY_GPU_CHIP
};

/// The best chip for GPUs of a compute capability, in the form of chip names (9.0 is 90); none if the GPU is too old.
std::optional<GpuChip> chipFor(unsigned capability);

/// The features for the lowering to buffers if kernels follow.
CpuFeatures gpuFeatures();

/// "sm_90a", and back; none if the chip is not supported.
llvm::StringRef chipName(GpuChip chip);
std::optional<GpuChip> chipNamed(llvm::StringRef name);

/// linalg on buffers -> launches of kernels by @main, the kernels in their place, and all temporaries in one planned
/// arena. Operations that `libraries` compute faster become calls of them (array-map-to-gpu-libraries).
void buildBuffersToGpuArenaPipeline(OpPassManager &pm, GpuChip chip, llvm::ArrayRef<std::string> libraries = {});

/// The same, and then the kernels in one gpu.module.
void buildBuffersToKernelsPipeline(OpPassManager &pm, GpuChip chip, llvm::ArrayRef<std::string> libraries = {});

/// The gpu.module -> the NVVM dialect.
void buildKernelsToNvvmPipeline(OpPassManager &pm, GpuChip chip);

/// The NVVM dialect -> PTX in a gpu.binary; with `hasLines`, including the source lines of its instructions.
void buildNvvmToPtxPipeline(OpPassManager &pm, bool hasLines);

/// The gpu.module -> PTX in a gpu.binary.
void buildKernelsToPtxPipeline(OpPassManager &pm, GpuChip chip);

/// The gpu.module -> CPU functions in the LLVM dialect, for the emulated GPU of the tests.
void buildKernelsToEmulationPipeline(OpPassManager &pm);

/// @main, which launches kernels -> the LLVM dialect, with the C entry. The kernels do not change.
void buildLaunchesToLLVMPipeline(OpPassManager &pm);

/// The whole pipeline, from the array dialect to the LLVM dialect with PTX in a gpu.binary: `--array-to-gpu`.
void buildArrayToGpuPipeline(OpPassManager &pm, GpuChip chip, llvm::ArrayRef<std::string> libraries = {});

/// Registers `--array-to-gpu`.
void registerGpuPipelines();

/// The interfaces for the translation and serialization of kernels.
void registerGpuDialects(DialectRegistry &registry);

} // namespace mlir::array

#endif // ARRAY_PIPELINES_GPU_H

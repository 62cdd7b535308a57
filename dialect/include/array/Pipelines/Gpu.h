// The pipelines for GPUs, one of them named. lib/Pipelines/Gpu.cpp reads top to bottom.
#ifndef ARRAY_PIPELINES_GPU_H
#define ARRAY_PIPELINES_GPU_H

#include "array/Pipelines/Cpu.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::array {

// The chips for which code is made, each with the oldest PTX that knows it. Code for sm_90a and sm_100a runs on that
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

/// The best chip for GPUs of a compute capability, counted as in the chips' names (9.0 is 90); none where they are too
/// old.
std::optional<GpuChip> chipFor(unsigned capability);

/// What the way to buffers may leave to kernels.
CpuFeatures gpuFeatures();

/// "sm_90a", and back; none where no code is made for such a chip.
llvm::StringRef chipName(GpuChip chip);
std::optional<GpuChip> chipNamed(llvm::StringRef name);

/// linalg on buffers -> launches of kernels by @main, the kernels in one gpu.module; what `libraries` do better are
/// calls of them (array-map-to-gpu-libraries).
void buildBuffersToKernelsPipeline(OpPassManager &pm, GpuChip chip, llvm::ArrayRef<std::string> libraries = {});

/// The gpu.module -> the NVVM dialect.
void buildKernelsToNvvmPipeline(OpPassManager &pm, GpuChip chip);

/// The NVVM dialect -> PTX in a gpu.binary, if `hasLines` with the places of its instructions.
void buildNvvmToPtxPipeline(OpPassManager &pm, bool hasLines);

/// The gpu.module -> PTX in a gpu.binary.
void buildKernelsToPtxPipeline(OpPassManager &pm, GpuChip chip);

/// The gpu.module -> functions of the CPU in the LLVM dialect, for the emulated device of the tests.
void buildKernelsToEmulationPipeline(OpPassManager &pm);

/// @main, which launches kernels -> the LLVM dialect, with the C entry. The kernels stay as they are.
void buildLaunchesToLLVMPipeline(OpPassManager &pm);

/// All of it, from the array dialect to the LLVM dialect with PTX in a gpu.binary: `--array-to-gpu`.
void buildArrayToGpuPipeline(OpPassManager &pm, GpuChip chip, llvm::ArrayRef<std::string> libraries = {});

/// Registers `--array-to-gpu`.
void registerGpuPipelines();

/// The interfaces through which kernels are translated and serialized.
void registerGpuDialects(DialectRegistry &registry);

} // namespace mlir::array

#endif // ARRAY_PIPELINES_GPU_H

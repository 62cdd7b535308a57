// The named pipelines for the CPU. Each `build` function is one stage; lib/Pipelines/Cpu.cpp reads top to bottom.
#ifndef ARRAY_PIPELINES_CPU_H
#define ARRAY_PIPELINES_CPU_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::array {

/// What code may use of a machine.
struct CpuFeatures {
  unsigned vectorBits = 512;       ///< of a register
  bool fma = true;                 ///< multiplies and adds with one rounding
  bool bfloat16Dot2 = false;       ///< multiplies pairs of bf16 and adds both products to an f32 (AVX512_BF16)
  int64_t prefetchDistance = 2048; ///< bytes that a large reduction asks for ahead; 0 where the hardware does it better
  bool narrowFactors = false;      ///< multiplies narrow floats as they are (a GPU): none are widened beforehand
};

/// array on tensors -> linalg on tensors, calls inlined: `--array-to-linalg`.
void buildArrayToLinalgPipeline(OpPassManager &pm);

/// The same where elements have threads: on a GPU.
void buildArrayToLinalgForThreadsPipeline(OpPassManager &pm);

/// linalg on tensors -> fused linalg on the caller's buffers. With `copyCarries` loops copy what they carry.
void buildLinalgToBuffersPipeline(OpPassManager &pm, const CpuFeatures &features, bool copyCarries = false);

/// linalg on buffers -> scf loops, temporaries in one planned arena: the first part of what follows.
void buildBuffersToArenaPipeline(OpPassManager &pm, const CpuFeatures &features);

/// linalg on buffers -> scf loops over vectors; temporaries in one planned arena.
void buildBuffersToLoopsPipeline(OpPassManager &pm, const CpuFeatures &features);

/// Loops -> the LLVM dialect, with the C entry.
void buildLoopsToLLVMPipeline(OpPassManager &pm);

/// The end of every way to the LLVM dialect, when structured control flow is lowered.
void buildConversionToLLVMPipeline(OpPassManager &pm);

/// Shared functions (lib/Entry/SharedFunctions.h) alone -> the LLVM dialect.
void buildSharedToLLVMPipeline(OpPassManager &pm);

/// Functions of the LLVM dialect keep the places of their operations when they are translated.
void buildLinesPipeline(OpPassManager &pm);

/// All of the above but for the lines: `--array-to-llvm`.
void buildArrayToLLVMPipeline(OpPassManager &pm, const CpuFeatures &features);

/// The width of this machine's vector registers.
unsigned hostVectorBits();

/// Registers `--array-to-linalg` and `--array-to-llvm`.
void registerArrayPipelines();

/// The dialects, interfaces and translations that the pipelines need, and no others: a context that loads them takes
/// about a millisecond, one with all of MLIR ten times that.
void registerPipelineDialects(DialectRegistry &registry);

} // namespace mlir::array

#endif // ARRAY_PIPELINES_CPU_H

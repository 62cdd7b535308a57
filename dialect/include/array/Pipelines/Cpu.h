// The named pipelines for the CPU. Each `build` function is one stage; lib/Pipelines/Cpu.cpp reads top to bottom.
#ifndef ARRAY_PIPELINES_CPU_H
#define ARRAY_PIPELINES_CPU_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::array {

/// Features of the target machine that generated code may use.
struct CpuFeatures {
  unsigned vectorBits = 512;       ///< width of a vector register
  bool fma = true;                 ///< multiplies and adds with one rounding
  bool bfloat16Dot2 = false;       ///< multiplies pairs of bf16 and adds both products to an f32 (AVX512_BF16)
  int64_t prefetchDistance = 2048; ///< prefetch distance of large reductions in bytes; 0 if hardware prefetching is
                                   ///< better
  bool hasExtrema = false;         ///< has minima and maxima that pass nan on
  bool narrowFactors = false;      ///< multiplies narrow floats directly (a GPU): no operand is widened first
};

/// array on tensors -> linalg on tensors, calls inlined: `--array-to-linalg`.
void buildArrayToLinalgPipeline(OpPassManager &pm);

/// The same for targets on which each element has a thread (GPUs).
void buildArrayToLinalgForThreadsPipeline(OpPassManager &pm);

/// linalg on tensors -> fused linalg on the caller's buffers. With `copyCarries`, loops copy their carries.
void buildLinalgToBuffersPipeline(OpPassManager &pm, const CpuFeatures &features, bool copyCarries = false);

/// linalg on buffers -> scf loops, temporaries in one planned arena: the first part of buildBuffersToLoopsPipeline.
void buildBuffersToArenaPipeline(OpPassManager &pm, const CpuFeatures &features);

/// linalg on buffers -> scf loops over vectors; temporaries in one planned arena.
void buildBuffersToLoopsPipeline(OpPassManager &pm, const CpuFeatures &features);

/// Loops -> the LLVM dialect, with the C entry.
void buildLoopsToLLVMPipeline(OpPassManager &pm);

/// The last stage of every pipeline to the LLVM dialect, after structured control flow is lowered.
void buildConversionToLLVMPipeline(OpPassManager &pm);

/// Shared functions (lib/Entry/SharedFunctions.h) alone -> the LLVM dialect.
void buildSharedToLLVMPipeline(OpPassManager &pm);

/// Adds debug locations to functions of the LLVM dialect, so that translation keeps the places of operations.
void buildLinesPipeline(OpPassManager &pm);

/// All of the above except the debug locations: `--array-to-llvm`.
void buildArrayToLLVMPipeline(OpPassManager &pm, const CpuFeatures &features);

/// The width of this machine's vector registers.
unsigned hostVectorBits();

/// Registers `--array-to-linalg` and `--array-to-llvm`.
void registerArrayPipelines();

/// The dialects, interfaces and translations that the pipelines need, and no others. A context that loads them takes
/// about a millisecond, and one with all of MLIR ten times that.
void registerPipelineDialects(DialectRegistry &registry);

} // namespace mlir::array

#endif // ARRAY_PIPELINES_CPU_H

// The names of the passes of this project, and of the MLIR passes that Cpu.cpp and Gpu.cpp use, so that a printed
// pipeline can be read again. array-opt registers all MLIR passes itself.
#include "array/Pipelines/Passes.h"
#include "array/Bufferize/Bufferize.h"
#include "array/Bufferize/Passes.h"
#include "array/Conversion/Passes.h"
#include "array/Cpu/Passes.h"
#include "array/Entry/CheckCalls.h"
#include "array/Entry/Passes.h"
#include "array/Gpu/Collectives.h"
#include "array/Gpu/Passes.h"
#include "array/Pipelines/Cpu.h"
#include "array/Pipelines/Entries.h"
#include "array/Pipelines/Gpu.h"
#include "array/Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::array {

// Only here: each of these functions is a template of the standard library's, which took half a second in every file
// that includes the constructors.
#define GEN_PASS_REGISTRATION
#include "array/Bufferize/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "array/Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "array/Cpu/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "array/Entry/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "array/Gpu/Collectives.h.inc"
#define GEN_PASS_REGISTRATION
#include "array/Gpu/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "array/Transforms/Passes.h.inc"

// A new file of passes, or of pipelines, adds its line here.
void registerOwnPasses() {
  registerArrayConversionPasses();
  registerArrayBufferizePasses();
  registerArrayCpuPasses();
  registerArrayEntryPasses();
  registerArrayTransformsPasses();
  registerBufferizePasses();
  registerCheckCallsPass();
  registerArrayGpuPasses();
  registerArrayGpuCollectivePasses();
  registerEntryPasses();
  registerArrayPipelines();
  registerGpuPipelines();
  registerOldPassNames();
}

void registerPipelinePasses() {
  registerOwnPasses();
  registerTransformsPasses();
  bufferization::registerEmptyTensorEliminationPass();
  bufferization::registerOneShotBufferizePass();
  memref::registerExpandStridedMetadataPass();
  // Upstream's functions for single passes of these are in a header with all its conversions.
  registerPass([] { return createConvertToLLVMPass(); });
  registerPass([] { return createLowerAffinePass(); });
  registerPass([] { return createReconcileUnrealizedCastsPass(); });
  registerPass([] { return createSCFToControlFlowPass(); });
  registerGpuModuleToBinaryPass();
  registerGpuNVVMAttachTarget();
}

} // namespace mlir::array

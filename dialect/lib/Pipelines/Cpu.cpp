// The CPU pipelines, in order, from the array dialect to the LLVM dialect. lib/Target compiles the result to object
// code.
#include "array/Pipelines/Cpu.h"
#include "array/Bufferize/Bufferize.h"
#include "array/Bufferize/Passes.h"
#include "array/Conversion/Passes.h"
#include "array/Cpu/Passes.h"
#include "array/Entry/CheckCalls.h"
#include "array/Entry/Passes.h"
#include "array/Gpu/Collectives.h"
#include "array/Pipelines/Entries.h"
#include "array/Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/TargetParser/Host.h"

namespace mlir::array {

/// Regions have one block here, so there are none to simplify. A config visits operations from the bottom unless told
/// otherwise, and the pass alone from the top: from the bottom, a chain of loops takes four times as long for twice the
/// length.
static std::unique_ptr<Pass> canonicalizer() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setUseTopDownTraversal();
  return createCanonicalizerPass(config);
}

/// A GPU has a thread for each element, and multiplies narrow factors directly. Its collectives only move memory.
static void buildToLinalg(OpPassManager &pm, bool isGpu) {
  pm.addPass(createCheckShapes());
  // A jit inside a jit is a call of a private function. Later passes do not support calls, so every one is inlined. The
  // inliner's own simplification is disabled: canonicalization follows.
  pm.addPass(createCheckCalls());
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  pm.addNestedPass<func::FuncOp>(createJoinReductions());
  if (isGpu)
    pm.addPass(createExpandCollectives());
  pm.addPass(canonicalizer());
  pm.addPass(createCSEPass());
  pm.addPass(createExpandComplex());
  pm.addPass(createConvertArrayToLinalg({/*hasThreads=*/isGpu, /*narrowFactors=*/isGpu}));
  pm.addNestedPass<func::FuncOp>(createResolveSizes());
  pm.addNestedPass<func::FuncOp>(createGuardSizes());
}

void buildArrayToLinalgPipeline(OpPassManager &pm) { buildToLinalg(pm, /*isGpu=*/false); }

void buildArrayToLinalgForThreadsPipeline(OpPassManager &pm) { buildToLinalg(pm, /*isGpu=*/true); }

void buildLinalgToBuffersPipeline(OpPassManager &pm, const CpuFeatures &features, bool copyCarries) {
  if (!features.narrowFactors) {
    pm.addNestedPass<func::FuncOp>(createWidenMatmuls({features.bfloat16Dot2}));
    pm.addNestedPass<func::FuncOp>(createSplitContractions());
    pm.addNestedPass<func::FuncOp>(createJoinRows());
    pm.addNestedPass<func::FuncOp>(createOrderResults());
  }
  pm.addNestedPass<func::FuncOp>(createFuseElementwise());
  // A GPU's arrays are in its memory, from which the host would have to read the elements.
  if (!features.narrowFactors)
    pm.addNestedPass<func::FuncOp>(createScalarizeCarries());
  // The results' buffers become known before bufferization, so that it computes in them. Without the elimination of
  // empty tensors, every result would be computed in a temporary and copied.
  pm.addPass(createPrepareEntry());
  pm.addNestedPass<func::FuncOp>(createInPlaceCarries({copyCarries}));
  pm.addPass(createEliminateEmptyTensors());
  pm.addPass(createBufferize());
  pm.addPass(canonicalizer());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createResolveSizes());
}

void buildBuffersToArenaPipeline(OpPassManager &pm, const CpuFeatures &features) {
  pm.addNestedPass<func::FuncOp>(createForwardCopies());
  pm.addNestedPass<func::FuncOp>(createForwardStores());
  pm.addNestedPass<func::FuncOp>(createOverlapCollectives());
  // Matmuls first, while each is still one operation. They allocate packing buffers.
  pm.addPass(createLowerConvolutions({features.vectorBits}));
  pm.addPass(createLowerMatmuls({features.vectorBits, features.bfloat16Dot2}));
  pm.addNestedPass<func::FuncOp>(createJoinElementwise());
  pm.addNestedPass<func::FuncOp>(createReuseBuffers());
  pm.addNestedPass<func::FuncOp>(createShareScans());
  pm.addNestedPass<func::FuncOp>(
      createVectorizeLinalg({features.vectorBits, /*marksKernels=*/true, features.prefetchDistance}));
  // After all passes that allocate memory. Loops over rows have reduced some temporaries to one row.
  pm.addNestedPass<func::FuncOp>(createPlanMemory());
}

void buildBuffersToLoopsPipeline(OpPassManager &pm, const CpuFeatures &features) {
  buildBuffersToArenaPipeline(pm, features);
  pm.addPass(createLowerTransposes());
  // Loops that repeat with other buffers become one function, so that later passes process them once.
  pm.addPass(createOutlineKernels());
  // A long program becomes several functions, because LLVM takes more than twice the time for twice the length.
  pm.addPass(createDivideMain());
  pm.addPass(createExpandMath({features.vectorBits, features.hasExtrema}));
  if (features.fma)
    pm.addPass(createExpandQuotients());
  pm.addPass(features.fma ? createContractProducts() : createExpandFma());
  pm.addPass(createExpandBFloat16());
  pm.addPass(createShuffleParts());
  pm.addPass(createParallelizeLoops());
}

void buildConversionToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createLowerMasks());
  // Views become arithmetic on their offsets; then one conversion lowers every dialect to LLVM's.
  pm.addPass(createLowerViews());
  pm.addPass(createLowerAffinePass());
  ConvertToLLVMPassOptions toLLVM;
  toLLVM.allowPatternRollback = false; // no pattern needs it, and the undo log takes time
  pm.addPass(createConvertToLLVMPass(toLLVM));
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void buildLoopsToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createAssignCallSiteIds());
  pm.addNestedPass<func::FuncOp>(createUpliftLoops());
  pm.addPass(createAddLoopBudget());
  // The early return after a failed library call needs branches, hence the order of these two.
  pm.addPass(createSCFToControlFlowPass());
  pm.addNestedPass<func::FuncOp>(createLowerRuntimeCalls());
  pm.addPass(createEmitEntry());

  buildConversionToLLVMPipeline(pm);
}

void buildSharedToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createExpandBFloat16());
  pm.addPass(createSCFToControlFlowPass());
  buildConversionToLLVMPipeline(pm);
}

void buildLinesPipeline(OpPassManager &pm) { pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass()); }

void buildArrayToLLVMPipeline(OpPassManager &pm, const CpuFeatures &features) {
  pm.addPass(createSeparateEntries());
  OpPassManager &entry = pm.nest<ModuleOp>();
  buildArrayToLinalgPipeline(entry);
  entry.addPass(createGiveBuffers(features));
  buildBuffersToLoopsPipeline(entry, features);
  buildLoopsToLLVMPipeline(entry);
  pm.addPass(createJoinEntries());
}

unsigned hostVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup("avx512f") ? 512 : features.lookup("avx2") ? 256 : 128;
}

namespace {
struct CpuOptions : PassPipelineOptions<CpuOptions> {
  Option<unsigned> vectorBits{*this, "vector-bits",
                              llvm::cl::desc("Width of a vector register in bits (this machine's)"),
                              llvm::cl::init(hostVectorBits())};
  Option<bool> bfloat16Dot2{*this, "bfloat16-dot2", llvm::cl::desc("The machine multiplies pairs of bf16"),
                            llvm::cl::init(false)};
  Option<int64_t> prefetchDistance{
      *this, "prefetch-distance",
      llvm::cl::desc("Prefetch distance of large reductions in bytes; 0: hardware prefetching suffices"),
      llvm::cl::init(CpuFeatures().prefetchDistance)};
};
} // namespace

void registerArrayPipelines() {
  PassPipelineRegistration<>("array-to-linalg", "Lower the array dialect to linalg on tensors",
                             buildArrayToLinalgPipeline);
  PassPipelineRegistration<CpuOptions>("array-to-llvm",
                                       "Compile every public function @f to the LLVM dialect, with the C entry pcrt_f",
                                       [](OpPassManager &pm, const CpuOptions &options) {
                                         buildArrayToLLVMPipeline(pm, {options.vectorBits, /*fma=*/true,
                                                                       options.bfloat16Dot2, options.prefetchDistance});
                                       });
}

} // namespace mlir::array

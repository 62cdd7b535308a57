// The GPU pipeline, in order, from the array dialect to PTX.
#include "array/Pipelines/Gpu.h"
#include "array/Bufferize/Passes.h"
#include "array/Cpu/Passes.h"
#include "array/Entry/Passes.h"
#include "array/Gpu/Nvvm.h"
#include "array/Gpu/Passes.h"
#include "array/Pipelines/Cpu.h"
#include "array/Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::array {

StringRef ptxFeature(GpuChip chip) {
  static constexpr StringLiteral features[] = {
#define ARRAY_GPU_CHIP_FEATURE(name, feature) feature,
      ARRAY_GPU_CHIPS(ARRAY_GPU_CHIP_FEATURE)
#undef ARRAY_GPU_CHIP_FEATURE
  };
  return features[static_cast<unsigned>(chip)];
}

StringRef chipName(GpuChip chip) {
  static constexpr StringLiteral names[] = {
#define ARRAY_GPU_CHIP_NAME(name, feature) #name,
      ARRAY_GPU_CHIPS(ARRAY_GPU_CHIP_NAME)
#undef ARRAY_GPU_CHIP_NAME
  };
  return names[static_cast<unsigned>(chip)];
}

static constexpr GpuChip kChips[] = {
#define ARRAY_GPU_CHIP_VALUE(name, feature) GpuChip::name,
    ARRAY_GPU_CHIPS(ARRAY_GPU_CHIP_VALUE)
#undef ARRAY_GPU_CHIP_VALUE
};

std::optional<GpuChip> chipNamed(StringRef name) {
  const GpuChip *found = llvm::find_if(kChips, [&](GpuChip chip) { return chipName(chip) == name; });
  return found == std::end(kChips) ? std::nullopt : std::optional(*found);
}

std::optional<GpuChip> chipFor(unsigned capability) {
  std::optional<GpuChip> best;
  for (GpuChip chip : kChips) {
    // In the order of their capabilities. Code for a chip with a letter runs on GPUs of exactly this capability.
    StringRef number = chipName(chip).drop_front(StringRef("sm_").size());
    bool isExact = number.consume_back("a");
    unsigned needed;
    if (!number.getAsInteger(10, needed) && (isExact ? needed == capability : needed <= capability))
      best = chip;
  }
  return best;
}

void buildBuffersToGpuArenaPipeline(OpPassManager &pm, GpuChip chip, ArrayRef<std::string> libraries) {
  pm.addNestedPass<func::FuncOp>(createForwardCopies());
  // Before the passes that make a launch or a call of each operation.
  MapKernelsToGpuOptions blocks;
  blocks.chip = chipName(chip).str();
  pm.addNestedPass<func::FuncOp>(createMapKernelsToGpu(blocks));
  MapToGpuLibrariesOptions calls;
  calls.libraries.assign(libraries.begin(), libraries.end());
  pm.addNestedPass<func::FuncOp>(createMapToGpuLibraries(calls));
  // Matmuls first, while the ops that follow them are still separate. They allocate memory.
  MapMatmulsToGpuOptions products;
  products.chip = chipName(chip).str();
  pm.addNestedPass<func::FuncOp>(createMapMatmulsToGpu(products));
  pm.addNestedPass<func::FuncOp>(createReuseBuffers());
  pm.addPass(createMapScattersToGpu());
  pm.addPass(createMapRoutinesToGpu());
  pm.addNestedPass<func::FuncOp>(createMapLoopsToGpu());
  pm.addNestedPass<func::FuncOp>(createMapRowFusionsToGpu());
  pm.addNestedPass<func::FuncOp>(createMapToGpu());
  pm.addPass(createLinkDeviceLibrary());
  pm.addNestedPass<func::FuncOp>(createLaunchStores());
  pm.addNestedPass<func::FuncOp>(createPredicateLaunches());
  pm.addNestedPass<func::FuncOp>(createSinkLoads());
  // After all passes that allocate memory.
  pm.addNestedPass<func::FuncOp>(createPlanMemory());
}

void buildBuffersToKernelsPipeline(OpPassManager &pm, GpuChip chip, ArrayRef<std::string> libraries) {
  buildBuffersToGpuArenaPipeline(pm, chip, libraries);
  // The same formulas as on the CPU, on scalars.
  pm.addPass(createExpandMath({/*vectorBits=*/32, /*hasExtrema=*/true}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createOutlineGpuKernels());
  // The callees of kernels are in the kernels' module now.
  pm.addPass(createSymbolDCEPass());
}

void buildKernelsToNvvmPipeline(OpPassManager &pm, GpuChip chip) {
  GpuNVVMAttachTargetOptions attach;
  attach.chip = chipName(chip).str();
  attach.features = ptxFeature(chip).str();
  attach.optLevel = 3;
  pm.addPass(createGpuNVVMAttachTarget(attach));

  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createDefineDeviceFunctions());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertKernelsToNvvm());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
}

void buildNvvmToPtxPipeline(OpPassManager &pm, bool hasLines) {
  if (hasLines)
    buildLinesPipeline(pm);
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = "isa";
  pm.addPass(createGpuModuleToBinaryPass(binary));
}

void buildKernelsToPtxPipeline(OpPassManager &pm, GpuChip chip) {
  buildKernelsToNvvmPipeline(pm, chip);
  buildNvvmToPtxPipeline(pm, /*hasLines=*/false);
}

void buildKernelsToEmulationPipeline(OpPassManager &pm) {
  pm.addNestedPass<gpu::GPUModuleOp>(createDefineDeviceFunctions());
  pm.addPass(createEmulateGpu());
  buildSharedToLLVMPipeline(pm);
}

void buildLaunchesToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createAssignCallSiteIds());
  // For the host alone: kernels have a separate pipeline.
  pm.addNestedPass<func::FuncOp>(createSCFToControlFlowPass());
  pm.addPass(createLowerLaunches());
  pm.addNestedPass<func::FuncOp>(createLowerRuntimeCalls());
  pm.addPass(createEmitEntry());
  buildConversionToLLVMPipeline(pm);
}

CpuFeatures gpuFeatures() {
  CpuFeatures features;
  features.narrowFactors = true;
  return features;
}

void buildArrayToGpuPipeline(OpPassManager &pm, GpuChip chip, ArrayRef<std::string> libraries) {
  buildArrayToLinalgForThreadsPipeline(pm);
  buildLinalgToBuffersPipeline(pm, gpuFeatures());
  buildBuffersToKernelsPipeline(pm, chip, libraries);
  buildKernelsToPtxPipeline(pm, chip);
  buildLaunchesToLLVMPipeline(pm);
}

namespace {
struct GpuOptions : PassPipelineOptions<GpuOptions> {
  Option<GpuChip> chip{*this, "chip", llvm::cl::desc("For which GPU"), llvm::cl::init(GpuChip::sm_80),
                       llvm::cl::ValuesClass({
#define ARRAY_GPU_CHIP_VALUE(name, feature) clEnumValN(GpuChip::name, #name, feature),
                           ARRAY_GPU_CHIPS(ARRAY_GPU_CHIP_VALUE)
#undef ARRAY_GPU_CHIP_VALUE
                       })};
  ListOption<std::string> libraries{*this, "libraries", llvm::cl::desc("Libraries that programs may call: cublaslt")};
};
} // namespace

void registerGpuPipelines() {
  PassPipelineRegistration<GpuOptions>(
      "array-to-gpu", "Compile @main to the LLVM dialect, and the kernels that it launches to PTX",
      [](OpPassManager &pm, const GpuOptions &options) {
        buildArrayToGpuPipeline(pm, options.chip,
                                ArrayRef<std::string>(&*options.libraries.begin(), options.libraries.size()));
      });
}

void registerGpuDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect>();
  registerNvvmDialects(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
}

} // namespace mlir::array

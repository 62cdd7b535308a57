// array-outline-gpu-kernels: the launches of @main call kernels of one gpu.module, which has equal kernels once. Runs
// after array-map-to-gpu. From here on the module is compiled for a GPU, and @main for the host.
#include "array/Gpu/Kernels.h"
#include "array/Gpu/Nvvm.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::array {

#define GEN_PASS_DEF_OUTLINEGPUKERNELS
#include "array/Gpu/Passes.h.inc"

namespace {

constexpr StringLiteral kModuleName = "kernels";

/// Whether the buffer is passed as a pointer to its first element.
bool isWhole(MemRefType type) { return type.hasStaticShape() && type.getLayout().isIdentity(); }

/// Constants, and views that are more than a pointer: a kernel recomputes them.
bool isRecomputed(Operation *op) {
  if (!op || op->getNumRegions() != 0)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<memref::GetGlobalOp>(op))
    return true;
  auto type = isa<ViewLikeOpInterface>(op) ? dyn_cast<MemRefType>(op->getResult(0).getType()) : MemRefType();
  return type && !isWhole(type);
}

void recomputeIn(Region &kernel) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.front());
  IRMapping copies;
  std::function<Value(Value)> copy = [&](Value value) -> Value {
    Operation *source = value.getDefiningOp();
    if (!isRecomputed(source))
      return value;
    if (Value known = copies.lookupOrNull(value))
      return known;
    for (Value operand : source->getOperands())
      if (Value own = copy(operand); own != operand)
        copies.map(operand, own);
    Operation *cloned = b.clone(*source, copies);
    copies.map(source->getResults(), cloned->getResults());
    return copies.lookup(value);
  };
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(kernel, captured);
  for (Value value : captured)
    if (Value own = copy(value); own != value)
      replaceAllUsesInRegionWith(value, own, kernel);
}

struct OutlineGpuKernels : impl::OutlineGpuKernelsBase<OutlineGpuKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<gpu::LaunchOp> launches;
    module.walk([&](gpu::LaunchOp launch) { launches.push_back(launch); });
    if (launches.empty())
      return;
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto kernels = gpu::GPUModuleOp::create(b, module.getLoc(), kModuleName);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
    for (gpu::LaunchOp launch : launches)
      if (failed(outline(launch, module, kernels)))
        return signalPassFailure();
    // This fixes the numbers of kernels, because their later forms do not keep them.
    SmallVector<Attribute> names;
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
      names.push_back(kernel.getNameAttr());
    module->setAttr(kKernelNamesAttr, b.getArrayAttr(names));
  }

  static LogicalResult outline(gpu::LaunchOp launch, ModuleOp module, gpu::GPUModuleOp kernels) {
    auto named = launch->getAttrOfType<StringAttr>(kLaunchNameAttr);
    recomputeIn(launch.getBody());
    SmallVector<Value> operands;
    gpu::GPUFuncOp kernel = outlineKernelFunc(launch, named ? named.getValue() : "kernel", operands);
    if (Attribute resident = launch->getAttr(kResidentBlocksAttr))
      kernel->setAttr(minBlocksAttrName(), resident);
    for (Value operand : operands)
      if (auto type = dyn_cast<MemRefType>(operand.getType()); type && !isWhole(type)) {
        kernel.erase();
        return launch.emitError("a kernel is passed whole buffers of static shapes, but captures ") << type;
      }
    copySymbols(kernel, module, kernels);
    kernel = insert(kernel, kernels);

    OpBuilder b(launch);
    gpu::KernelDim3 grid = launch.getGridSizeOperandValues(), block = launch.getBlockSizeOperandValues();
    gpu::LaunchFuncOp::create(b, launch.getLoc(), kernel, grid, block, launch.getDynamicSharedMemorySize(), operands);
    launch.erase();
    return success();
  }

  /// Copies the constants and functions that a kernel refers to into its module.
  static void copySymbols(Operation *user, ModuleOp module, gpu::GPUModuleOp kernels) {
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(user);
    for (SymbolTable::SymbolUse use : uses.value_or(SymbolTable::UseRange({}))) {
      StringAttr name = use.getSymbolRef().getRootReference();
      Operation *symbol = SymbolTable::lookupSymbolIn(module, name);
      if (!symbol || isa<gpu::GPUModuleOp>(symbol) || SymbolTable::lookupSymbolIn(kernels, name))
        continue;
      Operation *copy = symbol->clone();
      kernels.getBody()->push_front(copy);
      copySymbols(copy, module, kernels);
    }
  }

  /// An equal kernel of the module, or else this one.
  static gpu::GPUFuncOp insert(gpu::GPUFuncOp kernel, gpu::GPUModuleOp kernels) {
    for (auto known : kernels.getOps<gpu::GPUFuncOp>())
      if (known.getFunctionType() == kernel.getFunctionType() &&
          known.getKnownBlockSizeAttr() == kernel.getKnownBlockSizeAttr() &&
          known.getKnownGridSizeAttr() == kernel.getKnownGridSizeAttr() &&
          OperationEquivalence::isRegionEquivalentTo(&known.getBody(), &kernel.getBody(),
                                                     OperationEquivalence::IgnoreLocations)) {
        kernel.erase();
        return known;
      }
    SymbolTable(kernels).insert(kernel);
    return kernel;
  }
};

} // namespace
} // namespace mlir::array

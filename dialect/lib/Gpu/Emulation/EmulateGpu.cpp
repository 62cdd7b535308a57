// array-emulate-gpu: the kernels of a module become functions for the CPU, with one call for each thread of the grid,
// for tests without a GPU. tests/emulator/EmulatedKernel.h is the contract between these functions and their caller.
// EmulateGpuBody.cpp lowers operations on threads, blocks and warps. Launches become calls of one function.
#include "EmulateGpuBody.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::array {

#define GEN_PASS_DEF_EMULATEGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// The data of a kernel that a launch needs.
struct Kernel {
  func::FuncOp function;
  int64_t sharedBytes;
};

/// Reductions over a warp or a block become shuffles, and exchange through shared memory.
LogicalResult expandReductions(gpu::GPUModuleOp module) {
  constexpr unsigned warp = 32;
  RewritePatternSet patterns(module.getContext());
  populateGpuAllReducePatterns(patterns);
  populateGpuBreakDownSubgroupReducePatterns(patterns, /*maxShuffleBitwidth=*/32, PatternBenefit(3));
  for (unsigned bits : {32, 64}) { // 64-bit numbers only if 32 bits do not suffice
    PatternBenefit benefit(bits == 32 ? 2 : 1);
    populateGpuLowerSubgroupReduceToShufflePatterns(patterns, warp, bits, benefit);
    populateGpuLowerClusteredSubgroupReduceToShufflePatterns(patterns, warp, bits, benefit);
  }
  return applyPatternsGreedily(module, std::move(patterns));
}

/// The CPU has one memory: types do not say where their elements are.
void forgetMemorySpaces(gpu::GPUModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> Type {
    return type.getMemorySpace() ? MemRefType::get(type.getShape(), type.getElementType(), type.getLayout()) : type;
  });
  replacer.addReplacement(
      [](LLVM::LLVMPointerType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext()); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

struct EmulateGpu : impl::EmulateGpuBase<EmulateGpu> {
  using EmulateGpuBase::EmulateGpuBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto gpuModule : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
      if (failed(emulate(gpuModule)))
        return signalPassFailure();
    SmallVector<gpu::LaunchFuncOp> launches;
    module.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
    for (gpu::LaunchFuncOp launch : launches)
      if (failed(emulate(launch)))
        return signalPassFailure();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
    WalkResult left = module.walk([](Operation *op) {
      if (!isa_and_nonnull<gpu::GPUDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitError("'") << op->getName() << "' cannot be emulated outside of a kernel";
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Makes functions of the module's kernels; the module is then obsolete.
  LogicalResult emulate(gpu::GPUModuleOp gpuModule) {
    for (auto global : gpuModule.getOps<memref::GlobalOp>())
      if (global.getType().getMemorySpace())
        return global.emitError("'memref.global' in a memory space cannot be emulated: shared memory is a workgroup "
                                "attribution of the kernel");
    if (failed(expandInstructions(gpuModule)) || failed(expandReductions(gpuModule)))
      return failure();
    forgetMemorySpaces(gpuModule);
    if (failed(moveOut(gpuModule)))
      return failure();
    for (auto kernel : llvm::make_early_inc_range(gpuModule.getOps<gpu::GPUFuncOp>()))
      if (failed(emulate(gpuModule, kernel)))
        return failure();
    gpuModule.erase();
    return success();
  }

  /// Moves the functions that kernels call and the constants that they read to the host's module, with new names if
  /// theirs exist there.
  LogicalResult moveOut(gpu::GPUModuleOp gpuModule) {
    SymbolTable symbols(getOperation()), own(gpuModule);
    for (Operation &op : llvm::make_early_inc_range(*gpuModule.getBody())) {
      if (isa<gpu::GPUFuncOp>(op))
        continue;
      if (!isa<func::FuncOp, memref::GlobalOp, LLVM::GlobalOp, LLVM::LLVMFuncOp>(op))
        return op.emitError("'") << op.getName() << "' cannot be emulated in a 'gpu.module'";
      Operation *taken = symbols.lookup(SymbolTable::getSymbolName(&op));
      if (!taken)
        continue;
      auto function = dyn_cast<FunctionOpInterface>(op);
      bool isDeclaration = function && function.isExternal();
      // Two declarations mean the same function.
      if (isDeclaration ? taken->getName() != op.getName() : failed(own.renameToUnique(&op, {&symbols})))
        return op.emitError("the module has another symbol @") << SymbolTable::getSymbolName(&op).getValue();
      if (isDeclaration)
        own.erase(&op);
    }
    for (Operation &op : llvm::make_early_inc_range(*gpuModule.getBody())) {
      if (isa<gpu::GPUFuncOp>(op))
        continue;
      op.moveBefore(gpuModule);
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (function && !function.isExternal() && failed(checkBody(function)))
        return failure();
    }
    return success();
  }

  LogicalResult emulate(gpu::GPUModuleOp gpuModule, gpu::GPUFuncOp kernel) {
    if (!kernel.isKernel())
      return kernel.emitError("'gpu.func' @") << kernel.getName() << " is not a kernel: inline it into its callers";
    if (getOperation().lookupSymbol(kernel.getName()))
      return kernel.emitError("the kernel @")
             << kernel.getName() << " needs another name: the module has a symbol of it";
    SymbolRefAttr name = SymbolRefAttr::get(gpuModule.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())});
    FailureOr<int64_t> sharedBytes = emulateBody(kernel);
    if (failed(sharedBytes))
      return failure();

    OpBuilder builder(gpuModule);
    describe(builder, kernel, *sharedBytes);
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    auto function = func::FuncOp::create(builder, kernel.getLoc(), kernel.getName(),
                                         builder.getFunctionType({pointer, pointer}, {}));
    function.getBody().takeBody(kernel.getBody());
    kernels[name] = {function, *sharedBytes};
    kernel.erase();
    return success();
  }

  /// Constants next to a kernel hold the data for a launch by name.
  static void describe(OpBuilder &builder, gpu::GPUFuncOp kernel, int64_t sharedBytes) {
    SmallVector<int8_t> sizes;
    for (Type type : kernel.getFunctionType().getInputs())
      sizes.push_back(parameterBytes(type));
    Location loc = kernel.getLoc();
    if (!sizes.empty()) {
      auto values = DenseElementsAttr::get(RankedTensorType::get(sizes.size(), builder.getI8Type()), ArrayRef(sizes));
      LLVM::GlobalOp::create(builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), sizes.size()),
                             /*isConstant=*/true, LLVM::Linkage::External, (kernel.getName() + "_params").str(),
                             values);
    }
    LLVM::GlobalOp::create(builder, loc, builder.getI64Type(), /*isConstant=*/true, LLVM::Linkage::External,
                           (kernel.getName() + "_shared").str(), builder.getI64IntegerAttr(sharedBytes));
  }

  /// The function that launches, which the caller of the module provides.
  func::FuncOp launcher(OpBuilder &builder) {
    if (auto function = getOperation().lookupSymbol<func::FuncOp>(launchFunction))
      return function;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(getOperation().getBody());
    SmallVector<Type> types(9, builder.getI64Type());
    types.front() = types.back() = LLVM::LLVMPointerType::get(builder.getContext());
    auto function =
        func::FuncOp::create(builder, builder.getUnknownLoc(), launchFunction, builder.getFunctionType(types, {}));
    function.setPrivate();
    return function;
  }

  /// A launch is a call of `void emulated_launch(EmulatedKernel, int64_t gridX, gridY, gridZ, blockX, blockY, blockZ,
  /// int64_t sharedBytes, void *const *params)`, which returns when the kernel has run.
  LogicalResult emulate(gpu::LaunchFuncOp launch) {
    auto found = kernels.find(launch.getKernelAttr());
    if (found == kernels.end())
      return launch.emitError("'gpu.launch_func' of ")
             << launch.getKernelAttr() << ", but the module has no such kernel";
    if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() || launch.getAsyncObject() ||
        launch.hasClusterSize())
      return launch.emitError("'gpu.launch_func' with tokens, streams or clusters cannot be emulated");
    auto [function, sharedBytes] = found->second;

    ImplicitLocOpBuilder b(launch.getLoc(), launch);
    Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto widen = [&](Value value) -> Value {
      if (value.getType().isIndex())
        return arith::IndexCastOp::create(b, i64, value);
      return value.getType() == i64 ? value : arith::ExtUIOp::create(b, i64, value).getResult();
    };
    Value kernel = func::ConstantOp::create(b, function.getFunctionType(), function.getName());
    SmallVector<Value> operands{UnrealizedConversionCastOp::create(b, pointer, kernel).getResult(0)};
    for (gpu::KernelDim3 sizes : {launch.getGridSizeOperandValues(), launch.getBlockSizeOperandValues()})
      for (Value size : {sizes.x, sizes.y, sizes.z})
        operands.push_back(widen(size));
    Value bytes = LLVM::ConstantOp::create(b, i64, sharedBytes);
    if (Value dynamic = launch.getDynamicSharedMemorySize())
      bytes = arith::AddIOp::create(b, bytes, widen(dynamic));
    operands.push_back(bytes);
    operands.push_back(storeParameters(b, launch));
    func::CallOp::create(b, launcher(b), operands);
    launch.erase();
    return success();
  }

  DenseMap<Attribute, Kernel> kernels;
};

} // namespace
} // namespace mlir::array

// array-convert-kernels-to-nvvm: lowers the kernels of a gpu.module to the LLVM and NVVM dialects. It differs from
// upstream's pass in one respect: the remaining functions of the math dialect become instructions, or LLVM's expansions
// of them, and not calls of libdevice, which a user may not have.
#include "UnrollVectors.h"
#include "array/Gpu/Nvvm.h"
#include "array/Gpu/Passes.h"
#include "runtime/Abi.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Triple.h"

namespace mlir::array {

#define GEN_PASS_DEF_CONVERTKERNELSTONVVM
#include "array/Gpu/Passes.h.inc"

namespace {

/// Matmuls of bf16, which upstream's pattern for nvgpu.mma.sync does not support, and of i8, whose sums saturate there
/// but wrap around here. Two or four numbers form a 32-bit register.
struct ConvertMma : ConvertOpToLLVMPattern<nvgpu::MmaSyncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(nvgpu::MmaSyncOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto sums = cast<VectorType>(op.getRes().getType());
    Type factor = cast<VectorType>(op.getMatrixA().getType()).getElementType(), sum = sums.getElementType();
    bool isFloat = factor.isBF16() && sum.isF32();
    if (!isFloat && !(factor.isInteger(8) && sum.isInteger(32)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto shape = op.getMmaShapeAsArray();
    auto parts = [&](Value array) {
      SmallVector<Value> values;
      for (unsigned i = 0; i < cast<LLVM::LLVMArrayType>(array.getType()).getNumElements(); ++i)
        values.push_back(LLVM::ExtractValueOp::create(b, array, i));
      return values;
    };
    auto registers = [&](Value array) {
      return llvm::map_to_vector(
          parts(array), [&](Value pair) { return LLVM::BitcastOp::create(b, b.getI32Type(), pair).getResult(); });
    };
    SmallVector<Value> before;
    for (Value row : parts(adaptor.getMatrixC()))
      for (int64_t i = 0; i < sums.getDimSize(1); ++i)
        before.push_back(LLVM::ExtractElementOp::create(b, row, LLVM::ConstantOp::create(b, b.getI32Type(), i)));
    Type after = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(before.size(), sum));
    NVVM::MMATypes type = isFloat ? NVVM::MMATypes::bf16 : NVVM::MMATypes::s8;
    std::array<NVVM::MMATypes, 2> types{type, type};
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (!isFloat)
      overflow = NVVM::MMAIntOverflow::wrapped;
    std::array<NVVM::MMALayout, 2> layouts{NVVM::MMALayout::row, NVVM::MMALayout::col};
    Value product = NVVM::MmaOp::create(b, after, registers(adaptor.getMatrixA()), registers(adaptor.getMatrixB()),
                                        before, shape, /*b1Op=*/std::nullopt, overflow, types, layouts);
    Type resultType = getTypeConverter()->convertType(sums), rowType = adaptor.getMatrixC().getType();
    rowType = cast<LLVM::LLVMArrayType>(rowType).getElementType();
    Value result = LLVM::PoisonOp::create(b, resultType);
    for (int64_t row = 0, next = 0; row < sums.getDimSize(0); ++row) {
      Value values = LLVM::PoisonOp::create(b, rowType);
      for (int64_t i = 0; i < sums.getDimSize(1); ++i)
        values = LLVM::InsertElementOp::create(b, values, LLVM::ExtractValueOp::create(b, product, next++),
                                               LLVM::ConstantOp::create(b, b.getI32Type(), i));
      result = LLVM::InsertValueOp::create(b, result, values, row);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Whether a function calls itself, perhaps through others. Then its stack has no size that the assembler could know.
bool isRecursive(gpu::GPUModuleOp module) {
  llvm::StringMap<SmallVector<StringRef>> callees;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    function.walk([&, name = function.getName()](LLVM::CallOp call) {
      if (std::optional<StringRef> callee = call.getCallee())
        callees[name].push_back(*callee);
    });
  for (const auto &function : callees) {
    llvm::StringSet<> seen;
    SmallVector<StringRef> waiting(function.second);
    while (!waiting.empty()) {
      StringRef callee = waiting.pop_back_val();
      if (callee == function.first())
        return true;
      if (auto found = callees.find(callee); seen.insert(callee).second && found != callees.end())
        llvm::append_range(waiting, found->second);
    }
  }
  return false;
}

/// Tells the runtime how much stack a thread needs, by the size of a variable.
void declareStack(gpu::GPUModuleOp module) {
  auto b = OpBuilder::atBlockEnd(module.getBody());
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), PCRT_RECURSIVE_STACK_BYTES);
  LLVM::GlobalOp::create(b, module.getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External, PCRT_STACK_VARIABLE,
                         b.getZeroAttr(RankedTensorType::get({PCRT_RECURSIVE_STACK_BYTES}, b.getI8Type())),
                         /*alignment=*/4, static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
}

/// LLVM's instruction selection for wider integers fails by a signal.
LogicalResult checkIntegers(gpu::GPUModuleOp module) {
  constexpr unsigned widest = 128;
  WalkResult walked = module.walk([&](Operation *op) {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type)); integer && integer.getWidth() > widest)
        return op->emitError("has the type ") << type << ", expected integers of at most " << widest << " bits",
               WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

struct ConvertKernelsToNvvm : impl::ConvertKernelsToNvvmBase<ConvertKernelsToNvvm> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    if (failed(checkIntegers(module)))
      return signalPassFailure();

    // Reductions over a block or a warp, in terms of shuffles and barriers.
    RewritePatternSet collective(context);
    populateGpuRewritePatterns(collective);
    if (failed(applyPatternsGreedily(module, std::move(collective))))
      return signalPassFailure();

    unrollFromElements(module);
    LowerToLLVMOptions options(context, DataLayout(module));
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);
    configureGpuToNVVMTypeConverter(converter);
    converter.addConversion([&](nvgpu::DeviceAsyncTokenType) { return IntegerType::get(context, 32); });

    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    // These take precedence over the calls of libdevice in the patterns for GPUs.
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false, /*benefit=*/2);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateGpuToNVVMConversionPatterns(converter, patterns);
    populateNVGPUToNVVMConversionPatterns(converter, patterns);
    populateNVVMToLLVMConversionPatterns(patterns);
    patterns.add<ConvertMma>(converter, /*benefit=*/2);

    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addIllegalDialect<gpu::GPUDialect, nvgpu::NVGPUDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    target.addIllegalOp<NVVM::WgmmaMmaAsyncOp>(); // inline assembly
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    // Dynamic shared memory is declared as in CUDA; without a size it would be a variable of one byte.
    for (auto global : module.getOps<LLVM::GlobalOp>()) {
      auto type = dyn_cast<LLVM::LLVMArrayType>(global.getType());
      if (global.getAddrSpace() == static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared) && type &&
          type.getNumElements() == 0)
        global.setLinkage(LLVM::Linkage::External);
    }
    if (isRecursive(module))
      declareStack(module);
    // Without it the translation to LLVM assumes the alignments of no target: 64-bit integers would be loaded and
    // stored in halves.
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                    StringAttr::get(context, llvm::Triple("nvptx64-nvidia-cuda").computeDataLayout()));
  }
};

} // namespace

void registerNvvmDialects(DialectRegistry &registry) { registry.insert<nvgpu::NVGPUDialect, NVVM::NVVMDialect>(); }

llvm::StringRef minBlocksAttrName() { return NVVM::NVVMDialect::getMinctasmAttrName(); }

} // namespace mlir::array

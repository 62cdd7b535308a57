// Creates the operations of the GPU's instructions (GpuMatmulInstructions.h).
#include "GpuMatmulInstructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::array {

void createAsyncCopy(ImplicitLocOpBuilder &b, Value target, ValueRange indices, Value source, Value offset,
                     int64_t width, Value count, bool bypassesFirstCache) {
  auto token = nvgpu::DeviceAsyncTokenType::get(b.getContext());
  nvgpu::DeviceAsyncCopyOp::create(b, token, target, indices, source, offset, b.getIndexAttr(width), count,
                                   bypassesFirstCache ? b.getUnitAttr() : UnitAttr());
}

void createCommitCopies(ImplicitLocOpBuilder &b) { NVVM::CpAsyncCommitGroupOp::create(b); }

void createWaitForCopies(ImplicitLocOpBuilder &b, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, static_cast<uint32_t>(pending));
}

Value createLoadMatrices(ImplicitLocOpBuilder &b, VectorType type, Value memory, ValueRange indices, bool transposes) {
  return nvgpu::LdMatrixOp::create(b, type, memory, indices, transposes, /*numTiles=*/4);
}

Value createRoundToTf32(ImplicitLocOpBuilder &b, Value number) {
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), number, NVVM::FPRoundingMode::RNA);
}

Value createMma(ImplicitLocOpBuilder &b, Value left, Value right, Value sum, ArrayRef<int64_t> shape, bool isTf32) {
  return nvgpu::MmaSyncOp::create(b, left, right, sum, shape, isTf32);
}

void createSharedMemoryFence(ImplicitLocOpBuilder &b) {
  NVVM::FenceProxyOp::create(b, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
                             NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
}

Value createWarpgroupMma(ImplicitLocOpBuilder &b, Value sums, Value left, Value right, const WarpgroupMma &mma) {
  MLIRContext *context = b.getContext();
  auto type = NVVM::WGMMATypesAttr::get(context, mma.isHalf ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16);
  auto sum = NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32);
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto add = NVVM::WGMMAScaleOutAttr::get(context, NVVM::WGMMAScaleOut::one);
  auto layout = [&](bool isRow) {
    return NVVM::MMALayoutAttr::get(context, isRow ? NVVM::MMALayout::row : NVVM::MMALayout::col);
  };
  auto shape =
      NVVM::MMAShapeAttr::get(context, static_cast<int>(mma.m), static_cast<int>(mma.n), static_cast<int>(mma.k));
  return NVVM::WgmmaMmaAsyncOp::create(b, sums.getType(), sums, left, right, shape, type, type, sum, add, one, one,
                                       layout(mma.isLeftRow), layout(mma.isRightRow), NVVM::MMAIntOverflowAttr());
}

void createWarpgroupFence(ImplicitLocOpBuilder &b) { NVVM::WgmmaFenceAlignedOp::create(b); }

void createCommitWarpgroup(ImplicitLocOpBuilder &b) { NVVM::WgmmaGroupSyncAlignedOp::create(b); }

void createWaitForWarpgroup(ImplicitLocOpBuilder &b, int64_t pending) {
  NVVM::WgmmaWaitGroupSyncOp::create(b, static_cast<uint64_t>(pending));
}

} // namespace mlir::array

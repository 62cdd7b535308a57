// Offsets and views of a matmul's operands (GpuMatmulKernel.h).
#include "GpuMatmulKernel.h"
#include "MatrixDescriptor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

Value GpuMatmulKernel::offset(unsigned operand, const GpuMatmulDims &dims, Value number) {
  // Use 32 bits if they suffice: a division by a constant is several times slower with 64 bits.
  bool isShort = sizeOf(dims) <= std::numeric_limits<int32_t>::max();
  Type type = isShort ? Type(b.getI32Type()) : b.getIndexType();
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(b, type, b.getIntegerAttr(type, value)).getResult();
  };
  Value rest = number, sum;
  for (const GpuMatmulDim &dim : llvm::reverse(dims)) {
    Value place = rest;
    if (&dim != &dims.front()) {
      Value narrow = isShort ? b.createOrFold<arith::IndexCastUIOp>(type, rest) : rest;
      place = b.createOrFold<arith::RemUIOp>(narrow, constant(dim.size));
      rest = b.createOrFold<arith::DivUIOp>(narrow, constant(dim.size));
      if (isShort) {
        place = b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), place);
        rest = b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), rest);
      }
    }
    if (int64_t step = dim.steps[operand])
      sum = sum ? add(sum, mul(place, step)) : mul(place, step);
  }
  return sum ? sum : index(0);
}

Value GpuMatmulKernel::flat(const GpuMatmulOperand &operand) {
  Value buffer = operand.buffer;
  OpFoldResult start = b.getIndexAttr(operand.start);
  if (ShapedType::isDynamic(operand.start)) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    start = metadata.getOffset();
    buffer = metadata.getBaseBuffer();
  }
  int64_t extent = operand.extent, unit = 1;
  auto layout = StridedLayoutAttr::get(b.getContext(), operand.start, unit);
  auto type = MemRefType::get(extent, operand.element(), layout);
  return memref::ReinterpretCastOp::create(b, type, buffer, start, ArrayRef<OpFoldResult>{b.getIndexAttr(extent)},
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(unit)});
}

std::pair<Value, Value> GpuMatmulKernel::shared(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  if (plan.dynamicBytes == 0)
    return {launch.addWorkgroupAttribution(type, b.getLoc()), Value()};
  if (!dynamicMemory) {
    auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), MemRefLayoutAttrInterface(), space);
    dynamicMemory = gpu::DynamicSharedMemoryOp::create(b, bytes);
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, dynamicMemory);
    dynamicStart = rem(arith::SubIOp::create(b, index(0), address), descriptor::kBlockBytes);
    dynamicAddress = add(address, dynamicStart);
  }
  Value buffer = memref::ViewOp::create(b, type, dynamicMemory, add(dynamicStart, dynamicTaken), ValueRange());
  Value address = add(dynamicAddress, dynamicTaken);
  dynamicTaken += type.getNumElements() * element.getIntOrFloatBitWidth() / 8;
  return {buffer, address};
}

} // namespace mlir::array

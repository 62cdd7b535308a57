// Shared parts of a matmul's kernel: the matmul, its plan, the thread's position, and arithmetic on indices.
// GpuMatmulEmitter.cpp joins the parts.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULKERNEL_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULKERNEL_H

#include "GpuMatmulTiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

struct GpuMatmulKernel {
  GpuMatmulKernel(ImplicitLocOpBuilder &b, gpu::LaunchOp launch, const GpuMatmul &product, const GpuMatmulTiling &plan)
      : b(b), launch(launch), product(product), plan(plan), thread(launch.getThreadIds().x) {}

  ImplicitLocOpBuilder &b;
  gpu::LaunchOp launch;
  const GpuMatmul &product;
  const GpuMatmulTiling &plan;
  /// The thread's number in its block, the number of its warp, and its number in the warp.
  Value thread, warp, lane;
  /// The first row and column of the block's tile, and the batch index.
  Value firstRow, firstColumn, batch;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value mul(Value x, int64_t y) { return y == 1 ? x : b.createOrFold<arith::MulIOp>(x, index(y)); }
  Value div(Value x, int64_t y) { return y == 1 ? x : b.createOrFold<arith::DivUIOp>(x, index(y)); }
  Value rem(Value x, int64_t y) { return y == 1 ? index(0) : b.createOrFold<arith::RemUIOp>(x, index(y)); }
  Value isBelow(Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y); }
  Value isBelow(Value x, int64_t y) { return isBelow(x, index(y)); }
  Value both(Value x, Value y) { return !x ? y : !y ? x : arith::AndIOp::create(b, x, y).getResult(); }

  /// The offset of an operand at point `number` of some loops, relative to their first point.
  Value offset(unsigned operand, const GpuMatmulDims &dims, Value number);

  /// The elements of an operand from the first used one on, as a 1-D view.
  Value flat(const GpuMatmulOperand &operand);

  /// A buffer of shared memory. If it is dynamic shared memory, also the address of its first byte, which is a multiple
  /// of a descriptor's block.
  std::pair<Value, Value> shared(ArrayRef<int64_t> shape, Type element);

private:
  /// Dynamic shared memory; its first aligned byte, as an offset and as an address in shared memory; and the bytes that
  /// are in use.
  Value dynamicMemory, dynamicStart, dynamicAddress;
  int64_t dynamicTaken = 0;
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULKERNEL_H

// The instructions of NVIDIA's tensor cores and asynchronous copies for array-emulate-gpu, by the layouts of the PTX
// ISA's chapters on mma.m16n8k*, ldmatrix and cp.async: they become shuffles and arithmetic.
//
// In a warp, lane `4 * group + member` holds what stands in row `group`. A register of 32 bits holds one number, two of
// 16 bits or four of 8 that are neighbours along the dimension that is summed; in these terms the layouts of all types
// agree.
#include "EmulateGpuBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::array {

namespace {

class InstructionExpander {
public:
  explicit InstructionExpander(Operation *op) : b(op->getLoc(), op) {}

  LogicalResult expand(nvgpu::MmaSyncOp op);
  LogicalResult expand(nvgpu::LdMatrixOp op);
  LogicalResult expand(nvgpu::DeviceAsyncCopyOp op);

private:
  Value word(int32_t value) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }

  Value laneWord() { return arith::IndexCastOp::create(b, b.getI32Type(), gpu::LaneIdOp::create(b, IntegerAttr())); }
  Value groupOf(Value lane) { return arith::DivUIOp::create(b, lane, word(4)); }
  Value memberOf(Value lane) { return arith::RemUIOp::create(b, lane, word(4)); }

  Value fetch(Value value, Value lane) {
    return gpu::ShuffleOp::create(b, value, lane, word(32), gpu::ShuffleMode::IDX).getShuffleResult();
  }

  Value registerOf(Value fragment, int64_t number) {
    Value part = vector::ExtractOp::create(b, fragment, number);
    return vector::ExtractOp::create(b, vector::BitCastOp::create(b, VectorType::get({1}, b.getI32Type()), part), 0);
  }

  /// The numbers in a register, as f32 or i32.
  SmallVector<Value> numbersIn(Value bits, Type element) {
    int64_t count = 32 / element.getIntOrFloatBitWidth();
    if (element.isF32()) // tf32: the lower bits are not looked at
      bits = arith::AndIOp::create(b, bits, word(static_cast<int32_t>(0xffffe000)));
    Value one = vector::FromElementsOp::create(b, VectorType::get({1}, b.getI32Type()), bits);
    Value parts = vector::BitCastOp::create(b, VectorType::get({count}, element), one);
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < count; ++i) {
      Value number = vector::ExtractOp::create(b, parts, i);
      if (element.isInteger())
        number = arith::ExtSIOp::create(b, b.getI32Type(), number);
      else if (!element.isF32())
        number = arith::ExtFOp::create(b, b.getF32Type(), number);
      numbers.push_back(number);
    }
    return numbers;
  }

  ImplicitLocOpBuilder b;
};

/// Register `2 * q + h` of A holds row `group + 8 * h` and register `member + 4 * q` of that row; register `q` of B
/// column `group`, and register `member + 4 * q` of it. Element (h, c) of the result is row `group + 8 * h`, column
/// `2 * member + c`.
LogicalResult InstructionExpander::expand(nvgpu::MmaSyncOp op) {
  auto type = cast<VectorType>(op.getMatrixA().getType()), sumType = cast<VectorType>(op.getRes().getType());
  Type element = type.getElementType(), sumElement = sumType.getElementType();
  auto shape = llvm::map_to_vector(op.getMmaShape(), [](Attribute size) { return cast<IntegerAttr>(size).getInt(); });
  bool isFloat = element.isF16() || element.isBF16() || (element.isF32() && op.getTf32Enabled());
  bool isKnown =
      (isFloat && (sumElement.isF32() || sumElement.isF16())) || (element.isInteger(8) && sumElement.isInteger(32));
  if (!isKnown || shape[0] != 16 || shape[1] != 8)
    return op.emitError("'nvgpu.mma.sync' cannot be emulated for these types and this shape: expected f16, bf16 or "
                        "tf32, summed in f32 or f16, or i8, summed in i32, of 16 x 8");
  Value lane = laneWord(), group = groupOf(lane), member = memberOf(lane);
  int64_t registers = shape[2] * element.getIntOrFloatBitWidth() / 32;

  Value result = op.getMatrixC();
  SmallVector<SmallVector<Value>> rows(2), columns(2); // all numbers that this lane's four sums are made of
  for (int64_t r = 0; r < registers; ++r) {
    Value rowLane = add(mul(group, word(4)), word(r % 4));
    for (int64_t h = 0; h < 2; ++h)
      rows[h].append(numbersIn(fetch(registerOf(op.getMatrixA(), 2 * (r / 4) + h), rowLane), element));
    for (int64_t c = 0; c < 2; ++c) {
      Value columnLane = add(mul(add(mul(member, word(2)), word(c)), word(4)), word(r % 4));
      columns[c].append(numbersIn(fetch(registerOf(op.getMatrixB(), r / 4), columnLane), element));
    }
  }
  Type f32 = b.getF32Type();
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t c = 0; c < 2; ++c) {
      Value sum = vector::ExtractOp::create(b, result, ArrayRef<int64_t>{h, c});
      if (sumElement.isF16())
        sum = arith::ExtFOp::create(b, f32, sum);
      for (auto [x, y] : llvm::zip_equal(rows[h], columns[c]))
        sum = isFloat ? arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, y)).getResult() : add(sum, mul(x, y));
      if (sumElement.isF16())
        sum = arith::TruncFOp::create(b, sumElement, sum);
      result = vector::InsertOp::create(b, sum, result, ArrayRef<int64_t>{h, c});
    }
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// Lanes 8 * m to 8 * m + 7 say where the rows of matrix m are. Each lane gets the neighbours of row `group`, or of
/// column `group` when transposed, that are a register.
LogicalResult InstructionExpander::expand(nvgpu::LdMatrixOp op) {
  auto type = cast<VectorType>(op.getRes().getType());
  int64_t bits = type.getElementType().getIntOrFloatBitWidth(), neighbours = 32 / bits;
  if (op.getTranspose() && bits != 16)
    return op.emitError("'nvgpu.ldmatrix' cannot be emulated for ") << type << ": expected elements of 16 bits";
  Value lane = laneWord(), group = groupOf(lane), member = memberOf(lane);
  SmallVector<Value> indices;
  for (Value own : op.getIndices())
    indices.push_back(arith::IndexCastOp::create(b, b.getI32Type(), own));
  Value result = arith::ConstantOp::create(b, b.getZeroAttr(type));
  for (int64_t m = 0; m < op.getNumTiles(); ++m)
    for (int64_t e = 0; e < neighbours; ++e) {
      Value own = add(mul(member, word(static_cast<int32_t>(neighbours))), word(static_cast<int32_t>(e)));
      Value row = op.getTranspose() ? own : group, column = op.getTranspose() ? group : own;
      SmallVector<Value> place;
      for (Value index : indices)
        place.push_back(fetch(index, add(word(8 * m), row)));
      place.back() = add(place.back(), column);
      for (Value &one : place)
        one = arith::IndexCastOp::create(b, b.getIndexType(), one);
      Value element = memref::LoadOp::create(b, op.getSrcMemref(), place);
      result = vector::InsertOp::create(b, element, result, ArrayRef<int64_t>{m, e});
    }
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// At once, which is one of the times at which the hardware may do it.
LogicalResult InstructionExpander::expand(nvgpu::DeviceAsyncCopyOp op) {
  Type element = cast<MemRefType>(op.getSrc().getType()).getElementType();
  auto at = [&](OperandRange indices, int64_t offset) {
    SmallVector<Value> place(indices);
    place.back() = add(place.back(), index(offset));
    return place;
  };
  for (int64_t i = 0; i < op.getDstElements().getSExtValue(); ++i) {
    Value value;
    if (Value count = op.getSrcElements()) {
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index(i), count);
      auto choice = scf::IfOp::create(b, TypeRange{element}, isThere, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(choice.thenBlock());
      scf::YieldOp::create(b, memref::LoadOp::create(b, op.getSrc(), at(op.getSrcIndices(), i)).getResult());
      b.setInsertionPointToStart(choice.elseBlock());
      scf::YieldOp::create(b, arith::ConstantOp::create(b, b.getZeroAttr(element)).getResult());
      value = choice.getResult(0);
    } else {
      value = memref::LoadOp::create(b, op.getSrc(), at(op.getSrcIndices(), i));
    }
    memref::StoreOp::create(b, value, op.getDst(), at(op.getDstIndices(), i));
  }
  if (!op.getAsyncToken().use_empty())
    return op.emitError("'nvgpu.device_async_copy' cannot be emulated: its token is used by more than a wait");
  op.erase();
  return success();
}

} // namespace

LogicalResult expandInstructions(gpu::GPUModuleOp module) {
  // Waits first, then the groups, then the copies: each has no users then.
  SmallVector<Operation *> groups, others;
  module.walk([&](Operation *op) {
    if (isa<nvgpu::DeviceAsyncWaitOp, NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp>(op))
      op->erase();
    else if (isa<nvgpu::DeviceAsyncCreateGroupOp>(op))
      groups.push_back(op);
    else if (isa<nvgpu::DeviceAsyncCopyOp, nvgpu::MmaSyncOp, nvgpu::LdMatrixOp>(op))
      others.push_back(op);
  });
  for (Operation *group : groups) {
    if (!group->use_empty())
      return group->emitError("'nvgpu.device_async_create_group' cannot be emulated: its token is used by more than a "
                              "wait");
    group->erase();
  }
  for (Operation *op : others) {
    InstructionExpander expander(op);
    LogicalResult result = llvm::TypeSwitch<Operation *, LogicalResult>(op)
                               .Case<nvgpu::MmaSyncOp, nvgpu::LdMatrixOp, nvgpu::DeviceAsyncCopyOp>(
                                   [&](auto instruction) { return expander.expand(instruction); });
    if (failed(result))
      return failure();
  }
  return success();
}

} // namespace mlir::array

// The instructions of NVIDIA's tensor cores and asynchronous copies for array-emulate-gpu, by the layouts of the PTX
// ISA's chapters on mma.m16n8k*, ldmatrix, wgmma and cp.async. They become shuffles, loads and arithmetic.
//
// In a warp, lane `4 * group + member` holds elements of row `group`. A 32-bit register holds one number, or two of 16
// bits, or four of 8 bits, adjacent along the summed dimension. In these terms the layouts of all types agree.
#include "EmulateGpuBody.h"
#include "Gpu/Kernels/UnrollVectors.h"
#include "Gpu/Matmul/MatrixDescriptor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
  LogicalResult expand(NVVM::WgmmaMmaAsyncOp op);
  LogicalResult expand(NVVM::ConvertFloatToTF32Op op);
  LogicalResult expand(LLVM::InlineAsmOp op);

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
    if (element.isF32()) // tf32: the lower bits are ignored
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

  Value wide(int64_t value) { return arith::ConstantIntOp::create(b, b.getI64Type(), value); }
  /// A field of a descriptor from bit `first` on: a distance or an address, in bytes.
  Value bytesIn(Value descriptor, int64_t first) {
    Value field = arith::AndIOp::create(b, arith::ShRUIOp::create(b, descriptor, wide(first)), //
                                        wide(descriptor::kFieldMask));
    return mul(field, wide(int64_t(1) << descriptor::kUnitBits));
  }
  Value factorAt(Value descriptor, Type element, bool areTermsInner, Value outer, Value term);

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
  SmallVector<SmallVector<Value>> rows(2), columns(2); // all factors of this lane's four sums
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

/// Lanes 8 * m to 8 * m + 7 hold the addresses of the rows of matrix m. Each lane gets the register with its adjacent
/// elements of row `group`, or of column `group` if transposed.
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

/// A 16-bit factor, as f32, by the canonical layouts with a swizzle of 128 bytes. Adjacent elements are terms, or else
/// rows or columns (`outer`). An address has 18 bits: it is relative to the launch's shared memory.
Value InstructionExpander::factorAt(Value matrix, Type element, bool areTermsInner, Value outer, Value term) {
  using namespace descriptor;
  Value inner = areTermsInner ? term : outer, row = areTermsInner ? outer : term;
  int64_t perRow = kRowBytes / 2;
  auto div = [&](Value x, int64_t y) { return arith::DivUIOp::create(b, x, wide(y)).getResult(); };
  auto rem = [&](Value x, int64_t y) { return arith::RemUIOp::create(b, x, wide(y)).getResult(); };
  Value place = add(mul(rem(inner, perRow), wide(2)), mul(rem(row, kRows), wide(kRowBytes)));
  place = add(place, mul(div(row, kRows), bytesIn(matrix, kStride)));
  place = add(place, mul(div(inner, perRow), bytesIn(matrix, kLeading)));
  place = add(place, bytesIn(matrix, 0));
  Value moved = mul(rem(div(place, kRowBytes), kRows), wide(int64_t(1) << kUnitBits));
  place = arith::XOrIOp::create(b, place, moved);
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), MemRefLayoutAttrInterface(), space);
  Value memory = gpu::DynamicSharedMemoryOp::create(b, bytes);
  Value start =
      arith::IndexCastOp::create(b, b.getI64Type(), memref::ExtractAlignedPointerAsIndexOp::create(b, memory));
  Value within = arith::AndIOp::create(b, arith::SubIOp::create(b, place, start), wide((1 << kAddressBits) - 1));
  auto one = MemRefType::get({1}, element, MemRefLayoutAttrInterface(), space);
  Value at =
      memref::ViewOp::create(b, one, memory, arith::IndexCastOp::create(b, b.getIndexType(), within), ValueRange());
  Value number = memref::LoadOp::create(b, at, index(0));
  return arith::ExtFOp::create(b, b.getF32Type(), number);
}

/// Executes immediately, like the copies. Register `4 * n + 2 * h + c` of lane `4 * group + member` is row `group + 8 *
/// h` of the warp's 16, column `8 * n + 2 * member + c`. With an unknown swizzle the sums are nan.
LogicalResult InstructionExpander::expand(NVVM::WgmmaMmaAsyncOp op) {
  auto sums = cast<LLVM::LLVMStructType>(op.getResults().getType());
  auto isHalf = [](NVVM::WGMMATypes type) { return type == NVVM::WGMMATypes::f16 || type == NVVM::WGMMATypes::bf16; };
  NVVM::MMAShapeAttr shape = op.getShape();
  if (!isHalf(op.getTypeA()) || op.getTypeB() != op.getTypeA() || op.getTypeD() != NVVM::WGMMATypes::f32 ||
      op.getScaleD() != NVVM::WGMMAScaleOut::one || op.getScaleA() != NVVM::WGMMAScaleIn::one ||
      op.getScaleB() != NVVM::WGMMAScaleIn::one || shape.getM() != 64 || shape.getK() != 16)
    return op.emitError(
        "'nvvm.wgmma.mma_async' cannot be emulated for these types: expected f16 or bf16, added to sums "
        "in f32, without a scale");
  Type f32 = b.getF32Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type element = op.getTypeA() == NVVM::WGMMATypes::f16 ? Type(b.getF16Type()) : b.getBF16Type();
  bool rowsOfTerms = op.getLayoutA() == NVVM::MMALayout::row, columnsOfTerms = op.getLayoutB() == NVVM::MMALayout::col;
  Value place;
  { // once for the kernel: its stack must not grow in a loop
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&op->getParentOfType<gpu::GPUFuncOp>().getBody().front());
    place = LLVM::AllocaOp::create(b, pointer, sums, wide(1));
  }
  LLVM::StoreOp::create(b, op.getInouts(), place);
  Value lane = arith::ExtUIOp::create(b, b.getI64Type(), laneWord());
  Value group = arith::DivUIOp::create(b, lane, wide(4)), member = arith::RemUIOp::create(b, lane, wide(4));
  Value warp = arith::IndexCastOp::create(b, b.getI64Type(), gpu::SubgroupIdOp::create(b, IntegerAttr()));
  Value firstRow = add(mul(arith::RemUIOp::create(b, warp, wide(4)), wide(16)), group);
  Value isKnown = wide(1);
  for (Value matrix : {op.getDescriptorA(), op.getDescriptorB()}) {
    Value swizzle = arith::ShRUIOp::create(b, matrix, wide(descriptor::kSwizzle));
    Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, swizzle, wide(descriptor::kSwizzle128));
    isKnown = arith::AndIOp::create(b, isKnown, arith::ExtUIOp::create(b, b.getI64Type(), fits));
  }
  isKnown = arith::TruncIOp::create(b, b.getI1Type(), isKnown);
  auto count = static_cast<int64_t>(sums.getBody().size());
  auto registers = scf::ForOp::create(b, index(0), index(count), index(1));
  b.setInsertionPointToStart(registers.getBody());
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), registers.getInductionVar());
  auto bit = [&](int64_t which) {
    return arith::AndIOp::create(b, arith::ShRUIOp::create(b, number, wide(which)), wide(1)).getResult();
  };
  Value row = add(firstRow, mul(bit(1), wide(8)));
  Value column = mul(arith::DivUIOp::create(b, number, wide(4)), wide(8));
  column = add(column, add(mul(member, wide(2)), bit(0)));
  Value own = LLVM::GEPOp::create(b, pointer, f32, place, ArrayRef<LLVM::GEPArg>{number});
  Value before = LLVM::LoadOp::create(b, f32, own);
  auto terms = scf::ForOp::create(b, index(0), index(shape.getK()), index(1), before);
  b.setInsertionPointToStart(terms.getBody());
  Value term = arith::IndexCastOp::create(b, b.getI64Type(), terms.getInductionVar());
  Value left = factorAt(op.getDescriptorA(), element, rowsOfTerms, row, term);
  Value right = factorAt(op.getDescriptorB(), element, columnsOfTerms, column, term);
  Value sum = arith::AddFOp::create(b, terms.getRegionIterArg(0), arith::MulFOp::create(b, left, right));
  scf::YieldOp::create(b, sum);
  b.setInsertionPointAfter(terms);
  Value nothing = arith::ConstantOp::create(b, b.getFloatAttr(f32, APFloat::getNaN(APFloat::IEEEsingle())));
  Value known = arith::SelectOp::create(b, isKnown, terms.getResult(0), nothing);
  LLVM::StoreOp::create(b, known, own);
  b.setInsertionPointAfter(registers);
  op.replaceAllUsesWith(LLVM::LoadOp::create(b, sums, place).getResult());
  op.erase();
  return success();
}

/// Rounds to the nearest number with 10 bits of mantissa, ties away from zero.
LogicalResult InstructionExpander::expand(NVVM::ConvertFloatToTF32Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RNA || op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitError(
        "'nvvm.convert.float.to.tf32' cannot be emulated: expected the rounding mode rna, without saturation or relu");
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), op.getSrc());
  Value rounded = arith::AndIOp::create(b, add(bits, word(0x1000)), word(static_cast<int32_t>(0xffffe000)));
  Value isNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, op.getSrc(), op.getSrc());
  op.replaceAllUsesWith(arith::SelectOp::create(b, isNumber, rounded, word(0x7fffffff)).getResult());
  op.erase();
  return success();
}

/// Without instructions it returns its operand: it only keeps an order in the compiler.
LogicalResult InstructionExpander::expand(LLVM::InlineAsmOp op) {
  auto results = op->getNumResults() == 1 ? dyn_cast<LLVM::LLVMStructType>(op.getRes().getType()) : nullptr;
  if (!op.getAsmString().empty() || !results || results.getBody().size() != op.getOperands().size())
    return op.emitError("'llvm.inline_asm' cannot be emulated: expected no instructions, and its operands as results");
  Value all = LLVM::PoisonOp::create(b, results);
  for (auto [number, value] : llvm::enumerate(op.getOperands()))
    all = LLVM::InsertValueOp::create(b, all, value, static_cast<int64_t>(number));
  op.getRes().replaceAllUsesWith(all);
  op.erase();
  return success();
}

/// Executes immediately, which the hardware may do as well.
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
  unrollFromElements(module);
  // Waits first, then the groups, then the copies: in this order each has no users.
  SmallVector<Operation *> groups, others;
  module.walk([&](Operation *op) {
    if (isa<nvgpu::DeviceAsyncWaitOp, NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp, NVVM::FenceProxyOp,
            NVVM::WgmmaFenceAlignedOp, NVVM::WgmmaGroupSyncAlignedOp, NVVM::WgmmaWaitGroupSyncOp>(op))
      op->erase();
    else if (isa<nvgpu::DeviceAsyncCreateGroupOp>(op))
      groups.push_back(op);
    else if (isa<nvgpu::DeviceAsyncCopyOp, nvgpu::MmaSyncOp, nvgpu::LdMatrixOp, NVVM::WgmmaMmaAsyncOp,
                 NVVM::ConvertFloatToTF32Op, LLVM::InlineAsmOp>(op))
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
                               .Case<nvgpu::MmaSyncOp, nvgpu::LdMatrixOp, nvgpu::DeviceAsyncCopyOp,
                                     NVVM::WgmmaMmaAsyncOp, NVVM::ConvertFloatToTF32Op, LLVM::InlineAsmOp>(
                                   [&](auto instruction) { return expander.expand(instruction); });
    if (failed(result))
      return failure();
  }
  return success();
}

} // namespace mlir::array

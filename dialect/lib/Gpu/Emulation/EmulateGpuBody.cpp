// The operations of a kernel on the CPU (array-emulate-gpu). The thread's state is in its EmulatedThread; barriers and
// shuffles call the emulator through its function pointers. An emulator runs one thread at a time, and switches only at
// a barrier, a shuffle or the end. So a read-modify-write of an element is atomic without further measures.
#include "EmulateGpuBody.h"
#include "array/Entry/Entry.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::array {

namespace {

/// The byte offsets of the fields of an EmulatedThread; the first four are three uint32_t each.
enum Field : int64_t {
  threadId = 0,
  blockId = 12,
  blockDim = 24,
  gridDim = 36,
  shared = 48,
  barrier = 56,
  shuffle = 64
};

constexpr int64_t warpSize = 32;
/// The distance of a launch's parameters, which has room for the largest.
constexpr int64_t parameterStride = 16;
/// Shared buffers start at multiples of this, because of accesses of 16 bytes.
constexpr int64_t sharedAlignment = 16;

/// The emulator's number of a mode; the dialect's numbers differ.
int64_t modeNumber(gpu::ShuffleMode mode) {
  switch (mode) {
  case gpu::ShuffleMode::XOR:
    return 0;
  case gpu::ShuffleMode::UP:
    return 1;
  case gpu::ShuffleMode::DOWN:
    return 2;
  case gpu::ShuffleMode::IDX:
    return 3;
  }
  llvm_unreachable("a mode of gpu.shuffle");
}

int64_t bitsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() * (vector ? vector.getNumElements() : 1);
}

bool isBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getLayout().isIdentity();
}

bool runsOnCpu(Operation *op) {
  return isa_and_nonnull<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                         index::IndexDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                         scf::SCFDialect, ub::UBDialect, vector::VectorDialect>(op->getDialect());
}

LogicalResult refuse(Operation *op) {
  return op->emitError("'") << op->getName() << "' cannot be emulated in a kernel";
}

/// The alignment of a scalar in the parameter memory, which the launcher aligns only to 64 bits.
unsigned parameterAlignment(Type type) { return std::min<int64_t>(parameterBytes(type), alignof(int64_t)); }

class BodyEmulator {
public:
  explicit BodyEmulator(gpu::GPUFuncOp kernel)
      : kernel(kernel), entry(&kernel.getBody().front()), setup(kernel.getLoc(), entry, entry->begin()),
        b(kernel.getLoc(), kernel.getContext()), pointer(LLVM::LLVMPointerType::get(kernel.getContext())) {
    thread = entry->insertArgument(0u, pointer, kernel.getLoc());
    parameters = entry->insertArgument(1u, pointer, kernel.getLoc());
  }

  FailureOr<int64_t> run() {
    // List the entry block's operations only now: the code of `setup` comes before all of them, and stays.
    SmallVector<Operation *> operations;
    kernel.getBody().walk([&](Operation *op) { operations.push_back(op); });
    if (failed(takeArguments()))
      return failure();
    for (Operation *op : operations)
      if (failed(emulate(op)))
        return failure();
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    return sharedBytes;
  }

private:
  LogicalResult takeArguments() {
    constexpr unsigned added = 2;
    unsigned inputs = kernel.getFunctionType().getNumInputs(), workgroups = kernel.getNumWorkgroupAttributions();
    for (auto [index, argument] : llvm::enumerate(llvm::drop_begin(entry->getArguments(), added))) {
      auto buffer = dyn_cast<MemRefType>(argument.getType());
      if (buffer && !isBuffer(buffer))
        return kernel.emitError("a buffer of 'gpu.func' must have a static shape and no layout, but #")
               << index << " is " << buffer;
      Value value;
      if (index < inputs) {
        FailureOr<Value> loaded = loadParameter(argument.getType(), index);
        if (failed(loaded))
          return kernel.emitError("a parameter of 'gpu.func' must be a buffer, an index, an integer or a float of at "
                                  "most 128 bits, but #")
                 << index << " is " << argument.getType();
        value = *loaded;
      } else if (index < inputs + workgroups) {
        value = bufferAt(buffer, offsetPointer(setup, setup.getLoc(), sharedMemory(), reserveShared(buffer)));
      } else {
        value = memref::AllocaOp::create(setup, buffer, setup.getI64IntegerAttr(sharedAlignment));
      }
      argument.replaceAllUsesWith(value);
    }
    entry->eraseArguments(added, entry->getNumArguments() - added);
    return success();
  }

  FailureOr<Value> loadParameter(Type type, int64_t index) {
    Value address = loadPointer(setup, setup.getLoc(), parameters, index * sizeof(void *));
    if (auto buffer = dyn_cast<MemRefType>(type))
      return bufferAt(buffer, loadPointer(setup, setup.getLoc(), address, 0));
    if (type.isIndex()) {
      Value loaded = LLVM::LoadOp::create(setup, setup.getI64Type(), address);
      return arith::IndexCastOp::create(setup, type, loaded).getResult();
    }
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 8 * parameterStride || !LLVM::isCompatibleType(type))
      return failure();
    // A bool is a byte.
    Type stored = type.isInteger(1) ? setup.getI8Type() : type;
    Value loaded = LLVM::LoadOp::create(setup, stored, address, parameterAlignment(stored));
    return stored == type ? loaded : arith::TruncIOp::create(setup, type, loaded).getResult();
  }

  int64_t reserveShared(MemRefType type) {
    int64_t offset = sharedBytes;
    int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    sharedBytes = llvm::alignTo(offset + bytes, sharedAlignment);
    return offset;
  }

  Value bufferAt(MemRefType type, Value address) {
    LLVMTypeConverter converter(setup.getContext());
    Value descriptor = MemRefDescriptor::fromStaticShape(setup, setup.getLoc(), converter, type, address);
    return UnrealizedConversionCastOp::create(setup, type, descriptor).getResult(0);
  }

  Value sharedMemory() {
    if (!sharedBase)
      sharedBase = loadPointer(setup, setup.getLoc(), thread, Field::shared);
    return sharedBase;
  }

  /// One of the thread's numbers, loaded once.
  Value number(Field field, gpu::Dimension dimension) {
    int64_t offset = field + static_cast<int64_t>(dimension) * sizeof(uint32_t);
    Value &value = numbers[offset];
    if (!value) {
      Value address = offsetPointer(setup, setup.getLoc(), thread, offset);
      Value loaded = LLVM::LoadOp::create(setup, setup.getI32Type(), address);
      value = arith::IndexCastUIOp::create(setup, setup.getIndexType(), loaded);
    }
    return value;
  }

  /// `x + sizeX * (y + sizeY * z)`: a block's threads are counted x first.
  Value threadNumber() {
    using gpu::Dimension;
    Value x = number(threadId, Dimension::x), y = number(threadId, Dimension::y), z = number(threadId, Dimension::z);
    Value sizeX = number(blockDim, Dimension::x), sizeY = number(blockDim, Dimension::y);
    Value row = arith::AddIOp::create(b, y, arith::MulIOp::create(b, sizeY, z));
    return arith::AddIOp::create(b, x, arith::MulIOp::create(b, sizeX, row));
  }

  Value warpCount() {
    Value threads = number(blockDim, gpu::Dimension::x);
    for (gpu::Dimension dimension : {gpu::Dimension::y, gpu::Dimension::z})
      threads = arith::MulIOp::create(b, threads, number(blockDim, dimension));
    return arith::CeilDivUIOp::create(b, threads, index(warpSize));
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value constant(int64_t value) { return LLVM::ConstantOp::create(b, b.getI32Type(), value); }

  LogicalResult replace(Operation *op, ValueRange values) {
    op->replaceAllUsesWith(values);
    replaced.push_back(op);
    return success();
  }

  LogicalResult emulate(Operation *op) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](gpu::ThreadIdOp id) { return replace(id, number(threadId, id.getDimension())); })
        .Case([&](gpu::BlockIdOp id) { return replace(id, number(blockId, id.getDimension())); })
        .Case([&](gpu::BlockDimOp size) { return replace(size, number(blockDim, size.getDimension())); })
        .Case([&](gpu::GridDimOp size) { return replace(size, number(gridDim, size.getDimension())); })
        .Case([&](gpu::GlobalIdOp id) {
          gpu::Dimension d = id.getDimension();
          Value block = number(blockId, d), size = number(blockDim, d), thread = number(threadId, d);
          Value first = arith::MulIOp::create(b, block, size);
          return replace(id, arith::AddIOp::create(b, first, thread).getResult());
        })
        .Case([&](gpu::LaneIdOp id) {
          return replace(id, arith::RemUIOp::create(b, threadNumber(), index(warpSize)).getResult());
        })
        .Case([&](gpu::SubgroupIdOp id) {
          return replace(id, arith::DivUIOp::create(b, threadNumber(), index(warpSize)).getResult());
        })
        .Case([&](gpu::SubgroupSizeOp size) { return replace(size, index(warpSize)); })
        .Case([&](gpu::NumSubgroupsOp count) { return replace(count, warpCount()); })
        .Case([&](gpu::BarrierOp op) {
          Value function = loadPointer(b, b.getLoc(), thread, Field::barrier);
          auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, b.getI32Type()});
          Value site = arith::ConstantIntOp::create(b, b.getI32Type(), barriers++);
          LLVM::CallOp::create(b, type, ValueRange{function, thread, site});
          return replace(op, {});
        })
        .Case([&](gpu::DynamicSharedMemoryOp op) { return emulateDynamic(op); })
        .Case([&](gpu::ShuffleOp op) { return emulateShuffle(op); })
        .Case([&](gpu::ReturnOp op) {
          func::ReturnOp::create(b);
          return replace(op, {});
        })
        .Case([&](memref::AtomicRMWOp op) { return emulateAtomic(op); })
        .Case([&](memref::AtomicYieldOp) { return success(); }) // erased with its parent op
        .Case([&](memref::GenericAtomicRMWOp op) { return emulateAtomic(op); })
        .Case<memref::MemorySpaceCastOp, LLVM::AddrSpaceCastOp>([&](auto cast) {
          // Both types are the same after memory spaces are removed.
          return replace(cast, cast->getOperand(0));
        })
        .Default([&](Operation *op) { return runsOnCpu(op) ? success() : refuse(op); });
  }

  /// Dynamic shared memory comes after the kernel's static buffers.
  LogicalResult emulateDynamic(gpu::DynamicSharedMemoryOp op) {
    Value address = offsetPointer(b, b.getLoc(), sharedMemory(), sharedBytes);
    MemRefType type = op.getResultMemref().getType();
    LLVMTypeConverter converter(b.getContext());
    auto descriptor = MemRefDescriptor::poison(b, b.getLoc(), converter.convertType(type));
    Type i64 = b.getI64Type();
    descriptor.setAllocatedPtr(b, b.getLoc(), address);
    descriptor.setAlignedPtr(b, b.getLoc(), address);
    descriptor.setConstantOffset(b, b.getLoc(), 0);
    // Only the launch knows its length; the total length is never read.
    descriptor.setSize(b, b.getLoc(), 0, LLVM::ConstantOp::create(b, i64, std::numeric_limits<int64_t>::max()));
    descriptor.setConstantStride(b, b.getLoc(), 0, 1);
    return replace(op, UnrealizedConversionCastOp::create(b, type, Value(descriptor)).getResults());
  }

  /// A value as 32-bit numbers, the unit that lanes exchange; none if it cannot be split.
  SmallVector<Value> toWords(Value value) {
    int64_t bits = bitsOf(value.getType());
    Type i32 = b.getI32Type();
    if (bits % 32 == 0 && (bits > 32 || isa<VectorType>(value.getType()))) {
      auto type = VectorType::get({bits / 32}, i32);
      Value words = isa<VectorType>(value.getType()) ? vector::BitCastOp::create(b, type, value).getResult()
                                                     : LLVM::BitcastOp::create(b, type, value).getResult();
      SmallVector<Value> parts;
      for (int64_t part = 0; part < bits / 32; ++part)
        parts.push_back(vector::ExtractOp::create(b, words, part));
      return parts;
    }
    if (bits > 32 || isa<VectorType>(value.getType()))
      return {};
    if (isa<FloatType>(value.getType()))
      value = arith::BitcastOp::create(b, b.getIntegerType(bits), value);
    return {bits == 32 ? value : arith::ExtUIOp::create(b, i32, value).getResult()};
  }

  Value fromWords(Type type, ArrayRef<Value> words) {
    if (words.size() > 1 || isa<VectorType>(type)) {
      auto joined = vector::FromElementsOp::create(
          b, VectorType::get({static_cast<int64_t>(words.size())}, b.getI32Type()), words);
      return isa<VectorType>(type) ? vector::BitCastOp::create(b, cast<VectorType>(type), joined).getResult()
                                   : LLVM::BitcastOp::create(b, type, joined).getResult();
    }
    Type integer = b.getIntegerType(bitsOf(type));
    Value value = words.front();
    if (value.getType() != integer)
      value = arith::TruncIOp::create(b, integer, value);
    return integer == type ? value : arith::BitcastOp::create(b, type, value).getResult();
  }

  LogicalResult emulateShuffle(gpu::ShuffleOp op) {
    Type type = op.getValue().getType();
    SmallVector<Value> words = toWords(op.getValue());
    if (words.empty())
      return op.emitError("'gpu.shuffle' of ") << type << " cannot be emulated: expected up to 32 bits, or a multiple";
    if (!valid)
      valid = LLVM::AllocaOp::create(setup, pointer, setup.getI8Type(),
                                     LLVM::ConstantOp::create(setup, setup.getI64Type(), int64_t(1)));
    Type i32 = b.getI32Type();
    auto functionType = LLVM::LLVMFunctionType::get(i32, {pointer, i32, i32, i32, i32, pointer});
    Value function = loadPointer(b, b.getLoc(), thread, Field::shuffle), mode = constant(modeNumber(op.getMode()));
    for (Value &word : words)
      word = LLVM::CallOp::create(b, functionType,
                                  ValueRange{function, thread, mode, word, op.getOffset(), op.getWidth(), valid})
                 .getResult();
    // It is the same for every part.
    Value isValid = LLVM::LoadOp::create(b, b.getI8Type(), valid);
    isValid = arith::TruncIOp::create(b, b.getI1Type(), isValid);
    return replace(op, {fromWords(type, words), isValid});
  }

  /// The result is the former value of the element, as in compiled kernels.
  LogicalResult emulateAtomic(memref::AtomicRMWOp op) {
    Value old = memref::LoadOp::create(b, op.getMemref(), op.getIndices()), changed = op.getValue();
    if (op.getKind() != arith::AtomicRMWKind::assign)
      changed = arith::getReductionOp(op.getKind(), b, b.getLoc(), old, op.getValue());
    if (!changed)
      return failure(); // an error names the operation
    memref::StoreOp::create(b, changed, op.getMemref(), op.getIndices());
    return replace(op, old);
  }

  LogicalResult emulateAtomic(memref::GenericAtomicRMWOp op) {
    Value old = memref::LoadOp::create(b, op.getMemref(), op.getIndices());
    Block *body = op.getBody();
    body->getArgument(0).replaceAllUsesWith(old);
    Operation *yield = body->getTerminator();
    Value changed = yield->getOperand(0);
    op->getBlock()->getOperations().splice(op->getIterator(), body->getOperations(), body->begin(),
                                           yield->getIterator());
    b.setInsertionPoint(op);
    memref::StoreOp::create(b, changed, op.getMemref(), op.getIndices());
    return replace(op, old);
  }

  gpu::GPUFuncOp kernel;
  Block *entry;
  ImplicitLocOpBuilder setup; ///< At the start of the kernel.
  ImplicitLocOpBuilder b;
  Type pointer;
  Value thread, parameters, sharedBase, valid;
  DenseMap<int64_t, Value> numbers;
  int64_t barriers = 0; ///< In the kernel so far.
  int64_t sharedBytes = 0;
  SmallVector<Operation *> replaced;
};

} // namespace

FailureOr<int64_t> emulateBody(gpu::GPUFuncOp kernel) { return BodyEmulator(kernel).run(); }

LogicalResult checkBody(FunctionOpInterface function) {
  WalkResult result = function.getFunctionBody().walk(
      [](Operation *op) { return runsOnCpu(op) ? WalkResult::advance() : WalkResult(refuse(op)); });
  return failure(result.wasInterrupted());
}

int64_t parameterBytes(Type type) {
  return type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8) : sizeof(void *);
}

Value storeParameters(ImplicitLocOpBuilder &b, gpu::LaunchFuncOp launch) {
  Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
  int64_t count = launch.getNumKernelOperands();
  Value slots, addresses;
  { // once for the function, as a launch in a loop must not grow its stack
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&launch->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
    Value size = LLVM::ConstantOp::create(b, i64, std::max<int64_t>(count, 1));
    Type slot = LLVM::LLVMArrayType::get(b.getI8Type(), parameterStride);
    slots = LLVM::AllocaOp::create(b, pointer, slot, size, parameterStride);
    addresses = LLVM::AllocaOp::create(b, pointer, pointer, size);
  }
  for (int64_t index = 0; index < count; ++index) {
    Value operand = launch.getKernelOperand(index);
    if (isa<MemRefType>(operand.getType()))
      operand = memref::ExtractAlignedPointerAsIndexOp::create(b, operand);
    if (operand.getType().isIndex())
      operand = arith::IndexCastOp::create(b, i64, operand);
    else if (operand.getType().isInteger(1))
      operand = arith::ExtUIOp::create(b, b.getI8Type(), operand);
    Value slot = offsetPointer(b, b.getLoc(), slots, index * parameterStride);
    LLVM::StoreOp::create(b, operand, slot, parameterAlignment(operand.getType()));
    LLVM::StoreOp::create(b, slot, offsetPointer(b, b.getLoc(), addresses, index * sizeof(void *)));
  }
  return addresses;
}

} // namespace mlir::array

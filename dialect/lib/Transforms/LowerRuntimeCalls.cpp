// array-lower-runtime-calls: a library routine is reached through the call frame's table, so the object needs no symbol
// for it; what loops spend is counted against the frame's budget. Every offset comes from
// runtime/include/runtime/Abi.h. array-emit-entry passes the frame on.
#include "array/IR/Array.h"
#include "array/Transforms/Entry.h"
#include "array/Transforms/Passes.h"
#include "array/Transforms/Sites.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstddef>

namespace mlir::array {

#define GEN_PASS_DEF_LOWERRUNTIMECALLS
#include "array/Transforms/Passes.h.inc"

namespace {

/// The offset of a routine's slot in the table.
std::optional<int64_t> slotOffset(StringRef name) {
  return llvm::StringSwitch<std::optional<int64_t>>(name)
#define PCRT_TABLE_OFFSET(slot) .Case(#slot, offsetof(PcrtTable, slot))
      PCRT_LIBRARY_CALLS(PCRT_TABLE_OFFSET)
#undef PCRT_TABLE_OFFSET
          .Default(std::nullopt);
}

/// The code of a type of less than a byte, or of a float of one.
std::optional<PcrtDType> smallCode(Type type) {
  using Code = std::optional<PcrtDType>;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return isUnsigned ? PCRT_DTYPE_UInt1 : PCRT_DTYPE_Int1;
    case 2:
      return isUnsigned ? PCRT_DTYPE_UInt2 : PCRT_DTYPE_Int2;
    case 4:
      return isUnsigned ? PCRT_DTYPE_UInt4 : PCRT_DTYPE_Int4;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, Code>(type)
      .Case<Float8E4M3FNType>([](Type) { return PCRT_DTYPE_Float8E4M3FN; })
      .Case<Float8E5M2Type>([](Type) { return PCRT_DTYPE_Float8E5M2; })
      .Case<Float8E3M4Type>([](Type) { return PCRT_DTYPE_Float8E3M4; })
      .Case<Float8E4M3Type>([](Type) { return PCRT_DTYPE_Float8E4M3; })
      .Case<Float8E4M3B11FNUZType>([](Type) { return PCRT_DTYPE_Float8E4M3B11FNUZ; })
      .Case<Float8E4M3FNUZType>([](Type) { return PCRT_DTYPE_Float8E4M3FNUZ; })
      .Case<Float8E5M2FNUZType>([](Type) { return PCRT_DTYPE_Float8E5M2FNUZ; })
      .Case<Float8E8M0FNUType>([](Type) { return PCRT_DTYPE_Float8E8M0FNU; })
      .Case<Float4E2M1FNType>([](Type) { return PCRT_DTYPE_Float4E2M1FN; })
      .Case<Float6E2M3FNType>([](Type) { return PCRT_DTYPE_Float6E2M3FN; })
      .Case<Float6E3M2FNType>([](Type) { return PCRT_DTYPE_Float6E3M2FN; })
      .Default([](Type) { return Code(); });
}

/// The ABI's code of an element type of the array dialect.
std::optional<PcrtDType> dtypeCode(Type type) {
  if (type.isSignlessInteger(1))
    return PCRT_DTYPE_Bool;
  if (type.isF16())
    return PCRT_DTYPE_Float16;
  if (type.isBF16())
    return PCRT_DTYPE_BFloat16;
  if (type.isF32())
    return PCRT_DTYPE_Float32;
  if (type.isF64())
    return PCRT_DTYPE_Float64;
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF64() ? PCRT_DTYPE_Complex128 : PCRT_DTYPE_Complex64;
  bool isUnsigned = type.isUnsignedInteger();
  if (type.isIntOrFloat() && !(isa<IntegerType>(type) && type.getIntOrFloatBitWidth() >= 8))
    return smallCode(type);
  switch (type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0) {
  case 8:
    return isUnsigned ? PCRT_DTYPE_UInt8 : PCRT_DTYPE_Int8;
  case 16:
    return isUnsigned ? PCRT_DTYPE_UInt16 : PCRT_DTYPE_Int16;
  case 32:
    return isUnsigned ? PCRT_DTYPE_UInt32 : PCRT_DTYPE_Int32;
  case 64:
    return isUnsigned ? PCRT_DTYPE_UInt64 : PCRT_DTYPE_Int64;
  default:
    return std::nullopt;
  }
}

/// Lowers the calls of one function. Stack space is taken once, in the entry block, so that a call in a loop does not
/// grow it.
class CallLowering {
public:
  CallLowering(func::FuncOp function, Value frame)
      : builder(function.getLoc(), function.getContext()), entry(&function.getBody().front()), frame(frame) {}

  LogicalResult lower(RuntimeCallOp call) {
    std::optional<int64_t> slot = slotOffset(call.getName());
    if (!slot)
      return call.emitError("the runtime has no library routine named '") << call.getName() << "'";
    builder.setLoc(call.getLoc());
    builder.setInsertionPoint(call);

    FailureOr<Value> inputs = describe(call, call.getIns(), 0);
    FailureOr<Value> outputs = describe(call, call.getOuts(), call.getIns().size());
    if (failed(inputs) || failed(outputs))
      return failure();
    Value params = reserve(call.getParams().size() * sizeof(int64_t));
    for (auto [index, param] : llvm::enumerate(call.getParams()))
      store(constant(param, 64), params, index * sizeof(int64_t));

    Value table = loadPointer(builder, call.getLoc(), frame, offsetof(PcrtFrame, table));
    Value routine = loadPointer(builder, call.getLoc(), table, *slot);
    Type pointer = frame.getType(), i32 = builder.getI32Type();
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, i32, pointer, i32, pointer});
    auto status = LLVM::CallOp::create(builder, type,
                                       ValueRange{routine, frame, *inputs, constant(call.getIns().size(), 32), *outputs,
                                                  constant(call.getOuts().size(), 32), params});
    returnOnFailure(call, status.getResult());
    call.erase();
    return success();
  }

  void lower(SpendOp spend) {
    builder.setLoc(spend.getLoc());
    if (!budget)
      budget = takeBudget();
    builder.setInsertionPoint(spend);
    Type i64 = builder.getI64Type();
    Value left = LLVM::LoadOp::create(builder, i64, budget);
    left = LLVM::SubOp::create(builder, left, constant(spend.getOperations(), 64));
    LLVM::StoreOp::create(builder, left, budget);
    Value isOver = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, left, constant(0, 64));
    leaveIf(isOver, spend, [&] { return constant(PCRT_OUT_OF_BUDGET, 32); });
    spend.erase();
  }

private:
  Value constant(int64_t value, unsigned bits) {
    return LLVM::ConstantOp::create(builder, builder.getIntegerType(bits), value);
  }

  void store(Value value, Value base, int64_t offset) {
    LLVM::StoreOp::create(builder, value, offsetPointer(builder, builder.getLoc(), base, offset));
  }

  /// Stack space for a call's structures.
  Value reserve(int64_t bytes) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    return LLVM::AllocaOp::create(builder, frame.getType(), builder.getI8Type(),
                                  constant(std::max<int64_t>(bytes, 1), 64), alignof(PcrtTensor));
  }

  /// An array of PcrtTensor for some of a call's operands. Their dimensions stand behind it.
  FailureOr<Value> describe(RuntimeCallOp call, ValueRange operands, size_t firstOperand) {
    int64_t dims = operands.size() * sizeof(PcrtTensor), bytes = dims;
    for (Value operand : operands)
      bytes += cast<ShapedType>(operand.getType()).getRank() * sizeof(int64_t);
    Value tensors = reserve(bytes);
    for (auto [index, operand] : llvm::enumerate(operands)) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      std::optional<PcrtDType> dtype =
          dtypeCode(cast<TypeAttr>(call.getElementTypes()[firstOperand + index]).getValue());
      bool isEmpty = type && type.hasStaticShape() && type.getNumElements() == 0;
      if (!type || (!isEmpty && !memref::isStaticShapeAndContiguousRowMajor(type)))
        return call.emitError("operand #")
               << firstOperand + index << " must be a dense buffer of static shape, but is " << operand.getType();
      if (!dtype)
        return call.emitError("operand #") << firstOperand + index << " has an element type that libraries don't take";
      int64_t tensor = index * sizeof(PcrtTensor);
      store(dataPointer(operand, type), tensors, tensor + offsetof(PcrtTensor, data));
      store(offsetPointer(builder, call.getLoc(), tensors, dims), tensors, tensor + offsetof(PcrtTensor, dims));
      store(constant(type.getRank(), 32), tensors, tensor + offsetof(PcrtTensor, rank));
      store(constant(*dtype, 32), tensors, tensor + offsetof(PcrtTensor, dtype));
      for (int64_t dim : type.getShape()) {
        store(constant(dim, 64), tensors, dims);
        dims += sizeof(int64_t);
      }
    }
    return tensors;
  }

  Value dataPointer(Value buffer, MemRefType type) {
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, buffer);
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, buffer);
    Value width = arith::ConstantIndexOp::create(builder, llvm::divideCeil(type.getElementTypeBitWidth(), 8));
    Value offset = arith::MulIOp::create(builder, metadata.getOffset(), width);
    Value address = arith::AddIOp::create(builder, base, offset);
    Value integer = arith::IndexCastOp::create(builder, builder.getI64Type(), address);
    return LLVM::IntToPtrOp::create(builder, frame.getType(), integer);
  }

  /// Splits the block after the call: what follows runs only when the routine succeeded; its failure is returned with
  /// the number of the call.
  void returnOnFailure(RuntimeCallOp call, Value status) {
    Value failed = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, status, constant(PCRT_OK, 32));
    leaveIf(failed, call, [&] {
      auto site = call->getAttrOfType<IntegerAttr>(kSiteAttr);
      return site ? LLVM::OrOp::create(builder, status, constant(site.getInt() << PCRT_STATUS_BITS, 32)).getResult()
                  : status;
    });
  }

  /// Splits the block before `op`, which runs only if the condition does not hold.
  void leaveIf(Value condition, Operation *op, llvm::function_ref<Value()> makeStatus) {
    Block *before = op->getBlock();
    Block *after = before->splitBlock(op);
    Block *leave = builder.createBlock(after);
    func::ReturnOp::create(builder, makeStatus());
    builder.setInsertionPointToEnd(before);
    cf::CondBranchOp::create(builder, condition, leave, after);
  }

  /// What the run may still spend, on the stack: LLVM keeps it in a register.
  Value takeBudget() {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    Type i64 = builder.getI64Type();
    Value counter = LLVM::AllocaOp::create(builder, frame.getType(), i64, constant(1, 64), alignof(int64_t));
    Value given = offsetPointer(builder, builder.getLoc(), frame, offsetof(PcrtFrame, budget));
    LLVM::StoreOp::create(builder, LLVM::LoadOp::create(builder, i64, given), counter);
    return counter;
  }

  ImplicitLocOpBuilder builder;
  Block *entry;
  Value frame, budget;
};

struct LowerRuntimeCalls : impl::LowerRuntimeCallsBase<LowerRuntimeCalls> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<RuntimeCallOp> calls;
    SmallVector<SpendOp> spends;
    function.walk([&](RuntimeCallOp call) { calls.push_back(call); });
    function.walk([&](SpendOp spend) { spends.push_back(spend); });
    if (calls.empty() && spends.empty())
      return;
    Value frame = returnStatus(function);
    CallLowering lowering(function, frame);
    for (RuntimeCallOp call : calls)
      if (failed(lowering.lower(call)))
        return signalPassFailure();
    for (SpendOp spend : spends)
      lowering.lower(spend);
  }

  /// A status as the result, and the frame among the arguments.
  static Value returnStatus(func::FuncOp function) {
    OpBuilder builder(function.getContext());
    function.walk([&](func::ReturnOp leave) {
      builder.setInsertionPoint(leave);
      Value ok = LLVM::ConstantOp::create(builder, leave.getLoc(), builder.getI32Type(), int64_t(PCRT_OK));
      leave->setOperands(ok);
    });
    (void)function.insertResult(0, builder.getI32Type(), DictionaryAttr());
    return takeFrame(function);
  }
};

} // namespace
} // namespace mlir::array

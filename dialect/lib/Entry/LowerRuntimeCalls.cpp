// array-lower-runtime-calls: calls library routines through the call frame's table, so the object needs no symbols for
// them, and subtracts the operations of loops from the frame's budget. TableCalls.cpp emits the calls.
#include "TableCalls.h"
#include "array/Analysis/ElementTypes.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstddef>

namespace mlir::array {

#define GEN_PASS_DEF_LOWERRUNTIMECALLS
#include "array/Entry/Passes.h.inc"

namespace {

/// The offset of a routine's slot in the table.
std::optional<int64_t> slotOffset(StringRef name) {
  return llvm::StringSwitch<std::optional<int64_t>>(name)
#define PCRT_TABLE_OFFSET(slot) .Case(#slot, offsetof(PcrtTable, slot))
      PCRT_LIBRARY_CALLS(PCRT_TABLE_OFFSET)
#undef PCRT_TABLE_OFFSET
          .Default(std::nullopt);
}

/// An array of PcrtTensor for some of a call's operands, followed by their dimensions.
FailureOr<Value> describe(TableCalls &calls, RuntimeCallOp call, ValueRange operands, size_t firstOperand,
                          SymbolicSizes &sizes) {
  ImplicitLocOpBuilder &builder = calls.before(call);
  int64_t dims = operands.size() * sizeof(PcrtTensor), bytes = dims;
  for (Value operand : operands)
    bytes += cast<ShapedType>(operand.getType()).getRank() * sizeof(int64_t);
  Value tensors = calls.reserve(bytes);
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    std::optional<PcrtDType> dtype = dtypeCode(cast<TypeAttr>(call.getElementTypes()[firstOperand + index]).getValue());
    bool isEmpty = type && type.hasStaticShape() && type.getNumElements() == 0;
    std::optional<SmallVector<OpFoldResult>> shape;
    if (type && (isEmpty || type.getLayout().isIdentity() || memref::isStaticShapeAndContiguousRowMajor(type)))
      shape = sizes.sizesOf(operand);
    if (!shape)
      return call.emitError("operand #") << firstOperand + index << " must be a dense buffer, but is "
                                         << operand.getType();
    if (!dtype)
      return call.emitError("operand #") << firstOperand + index << " has an element type that libraries don't take";
    int64_t tensor = index * sizeof(PcrtTensor);
    calls.store(calls.pointerTo(operand), tensors, tensor + offsetof(PcrtTensor, data));
    calls.store(offsetPointer(builder, call.getLoc(), tensors, dims), tensors, tensor + offsetof(PcrtTensor, dims));
    calls.store(calls.constant(type.getRank(), 32), tensors, tensor + offsetof(PcrtTensor, rank));
    calls.store(calls.constant(*dtype, 32), tensors, tensor + offsetof(PcrtTensor, dtype));
    for (OpFoldResult size : *shape) {
      std::optional<int64_t> known = getConstantIntValue(size);
      Value dim = known ? calls.constant(*known, 64)
                        : arith::IndexCastOp::create(builder, builder.getI64Type(), cast<Value>(size)).getResult();
      calls.store(dim, tensors, dims);
      dims += sizeof(int64_t);
    }
  }
  return tensors;
}

LogicalResult lower(TableCalls &calls, RuntimeCallOp call, SymbolicSizes &sizes) {
  std::optional<int64_t> slot = slotOffset(call.getName());
  if (!slot)
    return call.emitError("the runtime has no library routine named '") << call.getName() << "'";
  FailureOr<Value> inputs = describe(calls, call, call.getIns(), 0, sizes);
  FailureOr<Value> outputs = describe(calls, call, call.getOuts(), call.getIns().size(), sizes);
  if (failed(inputs) || failed(outputs))
    return failure();
  Value params = calls.reserve(call.getParams().size() * sizeof(int64_t));
  ValueRange ofParams = call.getSizes();
  if (llvm::count_if(call.getParams(), ShapedType::isDynamic) != int64_t(ofParams.size()))
    return call.emitError("a number that the routine takes is ") << ShapedType::kDynamic << ", which stands for a size";
  for (auto [index, param] : llvm::enumerate(call.getParams())) {
    Value value;
    if (ShapedType::isDynamic(param)) {
      ImplicitLocOpBuilder &builder = calls.before(call);
      value = arith::IndexCastOp::create(builder, builder.getI64Type(), ofParams.front());
      ofParams = ofParams.drop_front();
    } else {
      value = calls.constant(param, 64);
    }
    calls.store(value, params, index * sizeof(int64_t));
  }
  calls.call(
      call, *slot,
      {*inputs, calls.constant(call.getIns().size(), 32), *outputs, calls.constant(call.getOuts().size(), 32), params});
  call.erase();
  return success();
}

/// The remaining budget, on the stack. LLVM moves it to a register.
Value takeBudget(TableCalls &calls, func::FuncOp function) {
  Value counter = calls.reserve(sizeof(int64_t));
  ImplicitLocOpBuilder &builder = calls.before(counter.getDefiningOp()->getNextNode());
  Value given = offsetPointer(builder, function.getLoc(), calls.frame(), offsetof(PcrtFrame, budget));
  LLVM::StoreOp::create(builder, LLVM::LoadOp::create(builder, builder.getI64Type(), given), counter);
  return counter;
}

/// The same number, opaque to LLVM: empty assembly. Without it the counter of a loop is an induction variable that
/// starts at the end of the previous loop's counter. Then the time of LLVM's analysis of induction variables grows with
/// the third power of the number of loops.
Value hidden(ImplicitLocOpBuilder &builder, Value number) {
  return LLVM::InlineAsmOp::create(builder, TypeRange{number.getType()}, ValueRange{number}, /*asm_string=*/"",
                                   /*constraints=*/"=r,0", /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None, /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

void lower(TableCalls &calls, SpendOp spend, Value budget) {
  ImplicitLocOpBuilder &builder = calls.before(spend);
  Value left = hidden(builder, LLVM::LoadOp::create(builder, builder.getI64Type(), budget));
  Value spent = calls.constant(spend.getOperations(), 64);
  if (Value times = spend.getTimes())
    spent = LLVM::MulOp::create(builder, spent, times);
  left = LLVM::SubOp::create(builder, left, spent);
  LLVM::StoreOp::create(builder, left, budget);
  Value isOver = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, left, calls.constant(0, 64));
  calls.leaveIf(isOver, spend, [&] { return calls.constant(PCRT_OUT_OF_BUDGET, 32); });
  spend.erase();
}

struct LowerRuntimeCalls : impl::LowerRuntimeCallsBase<LowerRuntimeCalls> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<RuntimeCallOp> routines;
    SmallVector<SpendOp> spends;
    function.walk([&](RuntimeCallOp call) { routines.push_back(call); });
    function.walk([&](SpendOp spend) { spends.push_back(spend); });
    if (routines.empty() && spends.empty())
      return;
    TableCalls calls(function);
    SymbolicSizes sizes(function);
    for (RuntimeCallOp call : routines)
      if (failed(lower(calls, call, sizes)))
        return signalPassFailure();
    Value budget = spends.empty() ? Value() : takeBudget(calls, function);
    for (SpendOp spend : spends)
      lower(calls, spend, budget);
  }
};

} // namespace
} // namespace mlir::array

// Every offset comes from runtime/include/runtime/Abi.h; array-emit-entry passes the frame on.
#include "TableCalls.h"
#include "array/Entry/CallSites.h"
#include "array/Entry/Entry.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

namespace mlir::array {

/// Returns a status from the function, PCRT_OK so far.
static void returnStatus(func::FuncOp function) {
  if (function.getNumResults() > 0)
    return;
  OpBuilder builder(function.getContext());
  function.walk([&](func::ReturnOp leave) {
    builder.setInsertionPoint(leave);
    Value ok = LLVM::ConstantOp::create(builder, leave.getLoc(), builder.getI32Type(), int64_t(PCRT_OK));
    leave->setOperands(ok);
  });
  (void)function.insertResult(0, builder.getI32Type(), DictionaryAttr());
}

TableCalls::TableCalls(func::FuncOp function)
    : builder(function.getLoc(), function.getContext()), entry(&function.getBody().front()) {
  returnStatus(function);
  frameArgument = takeFrame(function);
}

ImplicitLocOpBuilder &TableCalls::before(Operation *op) {
  builder.setLoc(op->getLoc());
  builder.setInsertionPoint(op);
  return builder;
}

Value TableCalls::constant(int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(builder, builder.getIntegerType(bits), value);
}

Value TableCalls::reserve(int64_t bytes) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return LLVM::AllocaOp::create(builder, frameArgument.getType(), builder.getI8Type(),
                                constant(std::max<int64_t>(bytes, 1), 64), /*alignment=*/16);
}

void TableCalls::store(Value value, Value base, int64_t offset) {
  LLVM::StoreOp::create(builder, value, offsetPointer(builder, builder.getLoc(), base, offset));
}

Value TableCalls::pointerTo(Value buffer) {
  return pointerTo(buffer, memref::ExtractStridedMetadataOp::create(builder, buffer).getOffset());
}

Value TableCalls::pointerTo(Value buffer, Value element) {
  auto type = cast<MemRefType>(buffer.getType());
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, buffer);
  Value width = arith::ConstantIndexOp::create(builder, llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  Value address = arith::AddIOp::create(builder, base, arith::MulIOp::create(builder, element, width));
  Value integer = arith::IndexCastOp::create(builder, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(builder, frameArgument.getType(), integer);
}

void TableCalls::call(Operation *op, int64_t slot, ArrayRef<Value> operands) {
  Value table = loadPointer(builder, op->getLoc(), frameArgument, offsetof(PcrtFrame, table));
  SmallVector<Value> all{loadPointer(builder, op->getLoc(), table, slot), frameArgument};
  llvm::append_range(all, operands);
  SmallVector<Type> types =
      llvm::map_to_vector(ArrayRef(all).drop_front(), [](Value value) { return value.getType(); });
  Value status =
      LLVM::CallOp::create(builder, LLVM::LLVMFunctionType::get(builder.getI32Type(), types), all).getResult();
  Value failed = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, status, constant(PCRT_OK, 32));
  leaveIf(failed, op, [&] {
    auto site = op->getAttrOfType<IntegerAttr>(kCallSiteAttr);
    return site ? LLVM::OrOp::create(builder, status, constant(site.getInt() << PCRT_STATUS_BITS, 32)).getResult()
                : status;
  });
}

void TableCalls::leaveIf(Value condition, Operation *op, llvm::function_ref<Value()> makeStatus) {
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op);
  Block *leave = builder.createBlock(after);
  func::ReturnOp::create(builder, makeStatus());
  builder.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(builder, condition, leave, after);
  builder.setInsertionPoint(op);
}

} // namespace mlir::array

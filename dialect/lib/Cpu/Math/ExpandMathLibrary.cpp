// Builds the calls of the C library for array-expand-math, and the functions that make them lane by lane.
#include "ExpandMathLibrary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

namespace {

func::FuncOp createFunction(ModuleOp module, StringRef name, TypeRange arguments, Type result) {
  auto b = ImplicitLocOpBuilder::atBlockEnd(module.getLoc(), module.getBody());
  auto function = func::FuncOp::create(b, name, b.getFunctionType(arguments, result));
  function.setPrivate();
  return function;
}

func::FuncOp getScalarFunction(ModuleOp module, const Twine &name, TypeRange arguments) {
  std::string symbol = name.str();
  if (auto function = module.lookupSymbol<func::FuncOp>(symbol))
    return function;
  return createFunction(module, symbol, arguments, arguments.front());
}

/// A function on vectors: spills the operands, calls the scalar function for each lane, reloads. The stack allows
/// variable lane numbers, and the code stays short.
func::FuncOp getLanesFunction(ModuleOp module, func::FuncOp scalar, VectorType type, unsigned operands) {
  std::string name = ("lanes" + Twine(type.getNumElements()) + "_" + scalar.getSymName()).str();
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  func::FuncOp function = createFunction(module, name, SmallVector<Type>(operands, type), type);
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(module.getContext(), LLVM::Linkage::Internal));
  auto b = ImplicitLocOpBuilder::atBlockBegin(module.getLoc(), function.addEntryBlock());
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value count = arith::ConstantIndexOp::create(b, type.getNumElements());
  SmallVector<Value> buffers;
  for (Value argument : function.getArguments()) {
    auto buffer = MemRefType::get(type.getShape(), type.getElementType());
    buffers.push_back(memref::AllocaOp::create(b, buffer, b.getI64IntegerAttr(64)));
    vector::StoreOp::create(b, argument, buffers.back(), zero);
  }
  auto loop = scf::ForOp::create(b, zero, count, one);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value lane = loop.getInductionVar();
    SmallVector<Value> scalars;
    for (Value buffer : buffers)
      scalars.push_back(memref::LoadOp::create(b, buffer, lane));
    Value result = func::CallOp::create(b, scalar, scalars).getResult(0);
    memref::StoreOp::create(b, result, buffers.front(), lane);
  }
  Value result = vector::LoadOp::create(b, type, buffers.front(), zero);
  func::ReturnOp::create(b, result);
  return function;
}

} // namespace

Value callMathLibrary(ImplicitLocOpBuilder &b, ModuleOp module, StringRef name, ValueRange operands) {
  Type type = operands.front().getType(), element = getElementTypeOrSelf(type);
  SmallVector<Type> arguments(operands.size(), element);
  func::FuncOp function = getScalarFunction(module, name + Twine(element.isF32() ? "f" : ""), arguments);
  if (auto vector = dyn_cast<VectorType>(type))
    function = getLanesFunction(module, function, vector, operands.size());
  return func::CallOp::create(b, function, operands).getResult(0);
}

} // namespace mlir::array

// call: verification against the callee.
#include "Inference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::array;

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto function = symbolTable.lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  if (!function)
    return emitOpError("callee ") << getCalleeAttr() << " is not a function of the module (C1)";
  FunctionType type = function.getFunctionType();
  if (getOperandTypes() != TypeRange(type.getInputs()))
    return emitOpError("operand types are ") << getOperandTypes() << ", expected those of " << getCalleeAttr() << ": "
                                             << TypeRange(type.getInputs()) << " (C2)";
  if (getResultTypes() != TypeRange(type.getResults()))
    return emitOpError("result types are ") << getResultTypes() << ", expected those of " << getCalleeAttr() << ": "
                                            << TypeRange(type.getResults()) << " (C3)";
  return success();
}

// Control flow: verification of the regions.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

LogicalResult WhileOp::verifyRegions() {
  TypeRange carry = getInits().getTypes();
  if (getCond().getArgumentTypes() != carry)
    return emitOpError("the arguments of cond are ")
           << getCond().getArgumentTypes() << ", expected the types of the operands: " << carry << " (C1)";
  auto tested = dyn_cast<YieldOp>(getCond().front().getTerminator());
  auto next = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!tested || !next)
    return emitOpError("a region does not end with array.yield");
  TypeRange condition = tested.getOperandTypes();
  if (condition.size() != 1 || condition.front() != RankedTensorType::get({}, Builder(*this).getI1Type()))
    return emitOpError("cond yields ") << condition << ", expected one tensor<i1> (C2)";
  if (getBody().getArgumentTypes() != carry)
    return emitOpError("the arguments of body are ")
           << getBody().getArgumentTypes() << ", expected the types of the operands: " << carry << " (C3)";
  if (next.getNumOperands() != carry.size() || !areCompatible(next.getOperandTypes(), carry))
    return emitOpError("body yields ") << next.getOperandTypes() << ", expected the types of the operands: " << carry
                                       << " (C4)";
  if (getResultTypes() != carry)
    return emitOpError("the results are ")
           << getResultTypes() << ", expected the types of the operands: " << carry << " (C5)";
  return success();
}

// Control flow: verification of the regions, and the effect that keeps barriers apart.
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

LogicalResult CondOp::verifyRegions() {
  if (getBranches().empty())
    return emitOpError("has no branch, expected at least one (C1)");
  for (auto [number, branch] : llvm::enumerate(getBranches())) {
    if (branch.getNumArguments() != 0)
      return emitOpError("branch ") << number << " has the arguments " << branch.getArgumentTypes()
                                    << ", expected none: branches read values from outside (C2)";
    auto yield = dyn_cast<YieldOp>(branch.front().getTerminator());
    if (!yield)
      return emitOpError("a region does not end with array.yield");
    if (!areCompatible(yield.getOperandTypes(), getResultTypes()))
      return emitOpError("branch ") << number << " yields " << yield.getOperandTypes()
                                    << ", expected the types of the results: " << getResultTypes() << " (C3)";
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  int64_t length = getLength();
  if (failed(checkSizes(getLoc(), getOperationName(), {length}, getSizes().size(), "C6")))
    return failure();
  if (isBelow(length, 0))
    return emitOpError("length is ") << length << ", expected at least 0 (C1)";
  SmallVector<Type> arguments(getInits().getTypes());
  for (Value operand : getXs()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() == 0 || !mergedSize(type.getDimSize(0), length))
      return emitOpError("scans ") << type << ", expected a first dimension of length = " << spelled(length) << " (C2)";
    arguments.push_back(RankedTensorType::get(type.getShape().drop_front(), type.getElementType()));
  }
  if (getBody().getArgumentTypes() != TypeRange(arguments))
    return emitOpError("the arguments of the body are ")
           << getBody().getArgumentTypes()
           << ", expected the types of the carry and of the slices: " << TypeRange(arguments) << " (C3)";
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("a region does not end with array.yield");
  TypeRange carry = getInits().getTypes(), yielded = yield.getOperandTypes();
  if (yielded.size() < carry.size() || !areCompatible(yielded.take_front(carry.size()), carry) ||
      !llvm::all_of(yielded.drop_front(carry.size()), llvm::IsaPred<RankedTensorType>))
    return emitOpError("the body yields ")
           << yielded << ", expected the types of the carry first: " << carry << ", and then tensors (C4)";
  SmallVector<Type> results(carry);
  for (Type type : yielded.drop_front(carry.size())) {
    auto slice = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape{length};
    llvm::append_range(shape, slice.getShape());
    results.push_back(RankedTensorType::get(shape, slice.getElementType()));
  }
  if (TypeRange(getResultTypes()).take_front(carry.size()) != carry || !areCompatible(results, getResultTypes()))
    return emitOpError("the results are ") << getResultTypes() << ", expected the types of the carry and of the joined "
                                           << "slices: " << TypeRange(results) << " (C5)";
  int64_t dynamic = 0;
  for (Type type : TypeRange(getResultTypes()).drop_front(carry.size()))
    dynamic += cast<RankedTensorType>(type).getNumDynamicDims();
  if (int64_t(getOutputDims().size()) != dynamic)
    return emitOpError("has ") << getOutputDims().size() << " output_dims, expected " << dynamic
                               << ": one for each dynamic dimension of the joined slices (C7)";
  return success();
}

LogicalResult OptimizationBarrierOp::verify() {
  if (getOperandTypes() != getResultTypes())
    return emitOpError("the results are ")
           << getResultTypes() << ", expected the types of the operands: " << getOperandTypes() << " (C1)";
  return success();
}

/// A barrier without uses is erased, but two barriers are never merged: an allocation has both properties.
void OptimizationBarrierOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpResult result : getOperation()->getResults())
    effects.emplace_back(MemoryEffects::Allocate::get(), result);
}

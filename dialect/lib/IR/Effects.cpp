// Tokens, and host_call: verification, and the effect that keeps the order.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

/// It also reads: a write without a reader could be erased as dead.
void array::addHostEffect(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), HostResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), HostResource::get());
}

OpFoldResult AfterAllOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

LogicalResult HostCallOp::verify() {
  if (static_cast<int64_t>(getSlot()) < 0)
    return emitOpError("slot is ") << static_cast<int64_t>(getSlot()) << ", expected at least 0 (C1)";
  TypeRange given = getGiven().getTypes();
  auto hasToken = [](TypeRange types) { return !types.empty() && isa<TokenType>(types.front()); };
  bool isOrdered = hasToken(given);
  auto areTensors = [&](TypeRange types) {
    return llvm::all_of(types.drop_front(isOrdered), llvm::IsaPred<RankedTensorType>);
  };
  if (isOrdered != hasToken(getResultTypes()) || !areTensors(given) || !areTensors(getResultTypes()))
    return emitOpError("takes ") << given << " and gives " << getResultTypes()
                                 << ", expected a token first in both, or tensors only (C2)";
  if (isOrdered && !getEffectful())
    return emitOpError("has a token, expected effectful (C3)");
  if (!getEffectful() && getResultTypes().empty())
    return emitOpError("without effects has no results, expected at least one (C4)");
  int64_t dynamic = 0;
  for (Type type : TypeRange(getResultTypes()).drop_front(isOrdered))
    dynamic += cast<RankedTensorType>(type).getNumDynamicDims();
  if (int64_t(getOutputDims().size()) != dynamic)
    return emitOpError("has ") << getOutputDims().size() << " output_dims, expected " << dynamic
                               << ": one for each dynamic dimension of its results (C5)";
  return success();
}

ValueRange HostCallOp::getOutputDims() { return getInputs().take_back(countSizes(getInputs().getTypes())); }

void HostCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getEffectful())
    addHostEffect(effects);
}

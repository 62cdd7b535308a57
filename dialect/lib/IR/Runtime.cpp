// runtime_call: effects, verification against the runtime's table.
#include "Inference.h"
#include "runtime/Abi.h"

using namespace mlir;
using namespace mlir::array;

void RuntimeCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  auto add = [&](MutableOperandRange operands, MemoryEffects::Effect *effect) {
    for (OpOperand &operand : operands)
      if (isa<MemRefType>(operand.get().getType()))
        effects.emplace_back(effect, &operand);
  };
  add(getInsMutable(), MemoryEffects::Read::get());
  add(getOutsMutable(), MemoryEffects::Write::get());
}

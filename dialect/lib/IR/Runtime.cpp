// runtime_call: effects, verification against the runtime's table.
#include "Inference.h"
#include "runtime/Abi.h"

using namespace mlir;
using namespace mlir::array;

static constexpr StringLiteral routines[] = {
#define PCRT_ROUTINE_NAME(name) #name,
    PCRT_LIBRARY_CALLS(PCRT_ROUTINE_NAME)
#undef PCRT_ROUTINE_NAME
};

/// The number of bits in the storage of an element of this type.
static unsigned storedWidth(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * storedWidth(complex.getElementType());
  return element.isIntOrFloat() ? std::max(8u, element.getIntOrFloatBitWidth()) : 0;
}

LogicalResult RuntimeCallOp::verify() {
  if (!llvm::is_contained(routines, getName())) {
    InFlightDiagnostic error = emitOpError("calls the unknown routine \"") << getName() << "\", expected one of ";
    llvm::interleaveComma(routines, error);
    return error << " (C1)";
  }
  TypeRange types = TypeRange(getOperandTypes()).drop_back(getSizes().size());
  if (!llvm::all_equal(llvm::map_range(types, [](Type type) { return isa<RankedTensorType>(type); })))
    return emitOpError("mixes tensors and memrefs: ") << types << " (C2)";
  if (getElementTypes().size() != types.size())
    return emitOpError("has ") << getElementTypes().size() << " element_types, expected " << types.size() << " (C3)";
  for (auto [type, attribute] : llvm::zip_equal(types, getElementTypes())) {
    Type element = cast<TypeAttr>(attribute).getValue(), stored = getElementTypeOrSelf(type);
    if (storedWidth(element) == 0 || storedWidth(element) != storedWidth(stored))
      return emitOpError("element type ") << element << " is not stored in " << type << " (C3)";
  }
  return checkSizes(getLoc(), getOperationName(), {getParams()}, getSizes().size(), "C4");
}

void RuntimeCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  auto add = [&](MutableOperandRange operands, MemoryEffects::Effect *effect) {
    for (OpOperand &operand : operands)
      if (isa<MemRefType>(operand.get().getType()))
        effects.emplace_back(effect, &operand);
  };
  add(getInsMutable(), MemoryEffects::Read::get());
  add(getOutsMutable(), MemoryEffects::Write::get());
  // All participants execute the same collectives in the same order, whether their results are used or not.
  if (getName().starts_with("collective")) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
  if (getEffectful())
    addHostEffect(effects);
}

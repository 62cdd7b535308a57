// The numbers of the dialect's element types in the runtime's ABI.
#include "array/Analysis/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::array {

/// The code of a type of less than a byte, or of a float of one.
static std::optional<PcrtDType> smallCode(Type type) {
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

static std::optional<PcrtDType> complexCode(Type part) {
  if (part.isF32())
    return PCRT_DTYPE_Complex64;
  if (part.isF64())
    return PCRT_DTYPE_Complex128;
  return std::nullopt;
}

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
    return complexCode(complex.getElementType());
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

} // namespace mlir::array

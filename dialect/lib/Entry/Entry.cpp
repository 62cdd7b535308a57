// The roles of @main's arguments, in the argument attribute `array.role`, and access to C structures.
#include "array/Entry/Entry.h"

#include "runtime/Abi.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

static constexpr llvm::StringLiteral kRoleAttr = "array.role";
static constexpr llvm::StringLiteral kRoleNames[] = {"argument", "result", "arena", "frame"};

void setEntryRole(func::FuncOp function, unsigned index, EntryRole role) {
  function.setArgAttr(index, kRoleAttr, StringAttr::get(function.getContext(), kRoleNames[static_cast<int>(role)]));
}

std::optional<EntryRole> getEntryRole(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, kRoleAttr);
  const auto *found = name ? llvm::find(kRoleNames, name.getValue()) : std::end(kRoleNames);
  if (found == std::end(kRoleNames))
    return std::nullopt;
  return static_cast<EntryRole>(found - std::begin(kRoleNames));
}

Value takeFrame(func::FuncOp function) {
  unsigned count = function.getNumArguments();
  for (unsigned index = 0; index < count; ++index)
    if (getEntryRole(function, index) == EntryRole::Frame)
      return function.getArgument(index);
  (void)function.insertArgument(count, LLVM::LLVMPointerType::get(function.getContext()), DictionaryAttr(),
                                function.getLoc());
  setEntryRole(function, count, EntryRole::Frame);
  return function.getArgument(count);
}

DictionaryAttr describePointer(Builder &builder, EntryRole role, MemRefType type, bool isWritten) {
  NamedAttrList attributes;
  attributes.set(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  if (role != EntryRole::Frame) {
    int64_t alignment = PCRT_ALIGNMENT;
    if (role == EntryRole::Argument)
      alignment = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    attributes.set(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(alignment));
  }
  if ((role == EntryRole::Argument && !isWritten) || role == EntryRole::Frame)
    attributes.set(LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
  return attributes.getDictionary(builder.getContext());
}

void inlineIntoCaller(func::FuncOp function) {
  // LLVM stores facts for each pair of arguments and accesses, so their number is limited.
  constexpr unsigned mostArguments = 12;
  Builder b(function.getContext());
  if (function.getNumArguments() <= mostArguments)
    function->setAttr("passthrough", b.getStrArrayAttr({"alwaysinline"}));
}

void takePointer(OpBuilder &builder, BlockArgument value, MemRefType type) {
  Location loc = value.getLoc();
  LLVMTypeConverter converter(builder.getContext());
  value.setType(LLVM::LLVMPointerType::get(builder.getContext()));
  // A cast between the uses, which expect a memref, and the descriptor.
  auto memref = UnrealizedConversionCastOp::create(builder, loc, type, value);
  value.replaceAllUsesExcept(memref.getResult(0), memref);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(memref);
  if (type.hasStaticShape()) {
    memref->setOperand(0, MemRefDescriptor::fromStaticShape(builder, loc, converter, type, value));
    return;
  }
  // A 1-D buffer. Its size is not used.
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, value);
  descriptor.setAlignedPtr(builder, loc, value);
  descriptor.setConstantOffset(builder, loc, 0);
  descriptor.setConstantStride(builder, loc, 0, 1);
  memref->setOperand(0, Value(descriptor));
}

Value offsetPointer(OpBuilder &builder, Location loc, Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)}, LLVM::GEPNoWrapFlags::inbounds);
}

Value loadPointer(OpBuilder &builder, Location loc, Value base, int64_t bytes) {
  return LLVM::LoadOp::create(builder, loc, base.getType(), offsetPointer(builder, loc, base, bytes), alignof(void *));
}

} // namespace mlir::array

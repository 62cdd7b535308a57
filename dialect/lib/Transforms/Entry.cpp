// The marks on the arguments of @main, kept as the argument attribute `array.role`, and access to C structures.
#include "array/Transforms/Entry.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

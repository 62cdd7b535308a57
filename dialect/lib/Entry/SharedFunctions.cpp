// Adds shared functions to modules.
#include "SharedFunctions.h"
#include "array/Entry/BuiltFunctions.h"
#include "array/Entry/Entry.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::array {

func::FuncOp addSharedFunction(ImplicitLocOpBuilder &b, StringRef name, TypeRange arguments) {
  auto function = func::FuncOp::create(b, name, b.getFunctionType(arguments, {}));
  function.setPrivate();
  auto built = function->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(kBuiltAttr);
  if (built && built.contains(name))
    return function;
  function->setAttr(kUnitAttr, b.getUnitAttr());
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  b.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

} // namespace mlir::array

// See array/Entry/Link.h.
#include "array/Entry/Link.h"

#include "Guards.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::array;

FailureOr<FunctionType> array::functionTypeOf(ModuleOp module, StringRef name) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function.getFunctionType();
  SmallVector<StringRef> names;
  for (auto function : module.getOps<func::FuncOp>())
    names.push_back(function.getName());
  return module.emitError("the module has no function '")
         << name << "'; its functions are " << (names.empty() ? "none" : llvm::join(names, ", "));
}

LogicalResult array::checkInput(ModuleOp module) {
  PassManager passes(module->getName());
  passes.addPass(createCheckShapes());
  passes.addPass(createCheckInput());
  return passes.run(module);
}

FailureOr<StringAttr> array::linkFunctions(ModuleOp into, ModuleOp from, StringRef entry) {
  if (failed(functionTypeOf(from, entry)))
    return failure();
  for (Operation &op : *from.getBody())
    if (!isa<func::FuncOp>(op))
      return op.emitError("a called module must hold only functions");

  OwningOpRef<ModuleOp> copy(from.clone());
  if (failed(checkInput(*copy)))
    return failure();
  into->setAttr(kCheckedAttr, UnitAttr::get(into.getContext()));
  SymbolTable taken(into), own(*copy);
  auto main = own.lookup<func::FuncOp>(entry);
  for (auto function : llvm::make_early_inc_range(copy->getOps<func::FuncOp>())) {
    if (failed(own.renameToUnique(function, {&taken})))
      return function.emitError("can't be renamed: the uses of its name are not known");
    function.setPrivate();
    function->removeAttr(kDonatedAttr);
  }
  for (auto function : llvm::make_early_inc_range(copy->getOps<func::FuncOp>())) {
    function->remove();
    into.push_back(function);
  }
  return main.getSymNameAttr();
}

// Units: a module of the LLVM dialect in parts that are compiled on their own, so that all cores take part and a part
// that was compiled before, for this module or another one, is not compiled again. After lib/Pipelines; the objects are
// joined to one in the end.
#ifndef ARRAY_LIB_TARGET_UNITS_H
#define ARRAY_LIB_TARGET_UNITS_H

#include "Host.h"

#include "llvm/IR/LLVMContext.h"

namespace mlir::array {

/// A part as LLVM IR, in a context of its own: threads share none. `root` is the function that the others may call,
/// null for the part with the entry.
struct Unit {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
  llvm::Function *root = nullptr;
  std::string key; ///< Its contents, for the cache.
  std::shared_ptr<const std::vector<char>> object;
};

/// Translates a module to units, for `target`: the first has the entry and every function that is not marked with
/// kUnitAttr (array/Entry/Entry.h) or is small. The module is taken apart.
FailureOr<std::vector<Unit>> translateToUnits(ModuleOp module, const HostTarget &target);

/// Looks for the objects of marked units among those that were compiled before; and keeps those of new ones. Bounded by
/// bytes, the least recently used go first.
void findKnownObjects(llvm::MutableArrayRef<Unit> units);
void keepObjects(llvm::ArrayRef<Unit> units);

/// Calls `work(unit, worker)` for those without an object, in as many threads as there are cores, this one among them.
void forEachMissing(llvm::MutableArrayRef<Unit> units, llvm::function_ref<void(Unit &, unsigned)> work);

/// One relocatable object of several.
std::vector<char> joinObjects(llvm::ArrayRef<llvm::ArrayRef<char>> objects);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_UNITS_H

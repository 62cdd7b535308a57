// Units: parts of a module of the LLVM dialect that are compiled separately. So all cores take part, and a part that
// was compiled before, for this module or another one, is reused. Runs after lib/Pipelines; the objects are joined at
// the end.
#ifndef ARRAY_LIB_TARGET_UNITS_H
#define ARRAY_LIB_TARGET_UNITS_H

#include "Host.h"

#include "llvm/IR/LLVMContext.h"

namespace mlir::array {

/// A part as LLVM IR, in its own context, because threads must not share one. `root` is the function that other parts
/// may call, null for the part with the entry.
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

/// Looks up marked units in the cache of objects, and stores new objects there. The cache is bounded by bytes; the
/// least recently used entries are removed first.
void findKnownObjects(llvm::MutableArrayRef<Unit> units);
void keepObjects(llvm::ArrayRef<Unit> units);

/// Calls `work(unit, worker)` for units without an object, in as many threads as there are cores, including this one.
void forEachMissing(llvm::MutableArrayRef<Unit> units, llvm::function_ref<void(Unit &, unsigned)> work);

/// One relocatable object of several.
std::vector<char> joinObjects(llvm::ArrayRef<llvm::ArrayRef<char>> objects);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_UNITS_H

// If the entry of a program only passes pointers to functions, marks it as a function that LLVM does not optimize.
//
// Such an entry runs once in each call: it fills tables of arguments and calls kernels. Its code generation takes half
// a millisecond with all of LLVM's passes, and a quarter of that without. Code with loops, floating-point numbers or
// vectors keeps all passes.
#include "QuickEntry.h"
#include "array/Entry/Entry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace mlir::array {

static bool passesOn(const llvm::Function &function) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>, 1> backEdges;
  llvm::FindFunctionBackedges(function, backEdges);
  auto isScalar = [](const llvm::Value *value) {
    return !value->getType()->isFPOrFPVectorTy() && !value->getType()->isVectorTy();
  };
  return backEdges.empty() && llvm::all_of(llvm::instructions(function), [&](const llvm::Instruction &instruction) {
           return isScalar(&instruction) && llvm::all_of(instruction.operand_values(), isScalar);
         });
}

llvm::PreservedAnalyses QuickEntry::run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
  llvm::Function *entry = module.getFunction(kEntryName);
  if (entry && !entry->isDeclaration() && passesOn(*entry)) {
    // LLVM requires both.
    entry->addFnAttr(llvm::Attribute::OptimizeNone);
    entry->addFnAttr(llvm::Attribute::NoInline);
  }
  return llvm::PreservedAnalyses::all();
}

} // namespace mlir::array

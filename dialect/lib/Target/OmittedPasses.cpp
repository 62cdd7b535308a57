// Passes of LLVM's code generation whose cost exceeds their benefit (docs/rationale/036-less-code-generation.md).
//
// Loop strength reduction, on x86: an address there is a base, a scaled index and an offset, as the passes before LLVM
// make it. The pass takes a fifth of a compilation, and the code is as fast without it.
//
// Machine LICM, in modules with a loop that uses more constants than there are registers. It hoists all of them out of
// the loop. The register allocator has no registers for them, and takes four fifths of the time to move all of them
// back.
#include "OmittedPasses.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/Constants.h"

namespace mlir::array {
namespace {

/// Twice the number of registers of AVX-512.
constexpr unsigned mostConstants = 64;

bool isOfRegister(const llvm::Value *value) {
  auto constant = llvm::dyn_cast<llvm::Constant>(value);
  return constant && (constant->getType()->isFPOrFPVectorTy() || constant->getType()->isVectorTy());
}

bool hasManyConstants(const llvm::BasicBlock &block) {
  llvm::SmallPtrSet<const llvm::Value *, 16> constants;
  for (const llvm::Instruction &instruction : block)
    for (const llvm::Value *operand : instruction.operand_values())
      if (isOfRegister(operand) && constants.insert(operand).second && constants.size() > mostConstants)
        return true;
  return false;
}

bool hasLoop(const llvm::Function &function) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>, 8> backEdges;
  llvm::FindFunctionBackedges(function, backEdges);
  return !backEdges.empty();
}

} // namespace

llvm::SmallVector<llvm::StringRef, 2> omittedPasses(const llvm::Module &module) {
  llvm::SmallVector<llvm::StringRef, 2> omitted;
  if (module.getTargetTriple().isX86())
    omitted.push_back("disable-lsr");
  if (llvm::any_of(module, [](const llvm::Function &function) {
        return llvm::any_of(function, hasManyConstants) && hasLoop(function);
      }))
    omitted.push_back("disable-machine-licm");
  return omitted;
}

} // namespace mlir::array

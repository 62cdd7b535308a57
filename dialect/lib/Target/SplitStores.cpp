// A store of a vector that is wider than a register becomes stores of registers, in the order of their addresses.
//
// LLVM splits such a store itself, and emits the part with the higher address first. If the address isn't aligned, each
// part touches two cache lines. Processors merge neighbouring stores to one line only in ascending order: on an Intel
// Xeon, a five-point stencil takes 1.3 times as long with the higher parts first.
#include "SplitStores.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include <numeric>

namespace mlir::array {

/// The elements of a register; 0 if the store needs no more than one, or is not of whole bytes.
static unsigned elementsOfRegister(const llvm::StoreInst &store, const llvm::DataLayout &layout,
                                   uint64_t registerBits) {
  auto type = llvm::dyn_cast<llvm::FixedVectorType>(store.getValueOperand()->getType());
  if (!type || !store.isSimple())
    return 0;
  uint64_t bits = layout.getTypeSizeInBits(type->getElementType());
  if (bits != layout.getTypeAllocSizeInBits(type->getElementType()) || bits * type->getNumElements() <= registerBits)
    return 0;
  return registerBits / bits;
}

static void split(llvm::StoreInst *store, unsigned width, uint64_t elementBytes) {
  llvm::IRBuilder<> builder(store);
  llvm::Value *vector = store->getValueOperand();
  unsigned count = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  for (unsigned first = 0; first < count; first += width) {
    llvm::SmallVector<int> lanes(std::min(width, count - first));
    std::iota(lanes.begin(), lanes.end(), first);
    llvm::Value *part = builder.CreateShuffleVector(vector, lanes);
    uint64_t offset = first * elementBytes;
    llvm::Value *address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), store->getPointerOperand(), offset);
    llvm::StoreInst *made = builder.CreateAlignedStore(part, address, llvm::commonAlignment(store->getAlign(), offset));
    made->setAAMetadata(store->getAAMetadata());
    made->copyMetadata(*store, {llvm::LLVMContext::MD_nontemporal, llvm::LLVMContext::MD_access_group});
  }
  store->eraseFromParent();
}

llvm::PreservedAnalyses SplitStores::run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
  const llvm::DataLayout &layout = function.getDataLayout();
  uint64_t registerBits = analyses.getResult<llvm::TargetIRAnalysis>(function)
                              .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
                              .getFixedValue();
  llvm::SmallVector<std::pair<llvm::StoreInst *, unsigned>> wide;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      if (unsigned width = elementsOfRegister(*store, layout, registerBits))
        wide.push_back({store, width});
  for (auto [store, width] : wide)
    split(store, width, layout.getTypeAllocSize(store->getValueOperand()->getType()->getScalarType()));
  if (wide.empty())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace mlir::array

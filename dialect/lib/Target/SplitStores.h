// Stores of registers, in the order of their addresses, in place of stores of wider vectors (SplitStores.cpp).
#ifndef ARRAY_LIB_TARGET_SPLITSTORES_H
#define ARRAY_LIB_TARGET_SPLITSTORES_H

#include "llvm/IR/PassManager.h"

namespace mlir::array {

struct SplitStores : llvm::PassInfoMixin<SplitStores> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_SPLITSTORES_H

// If the entry of a program only passes pointers to functions, it is compiled without optimization (QuickEntry.cpp).
#ifndef ARRAY_LIB_TARGET_QUICKENTRY_H
#define ARRAY_LIB_TARGET_QUICKENTRY_H

#include "llvm/IR/PassManager.h"

namespace mlir::array {

struct QuickEntry : llvm::PassInfoMixin<QuickEntry> {
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &analyses);
};

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_QUICKENTRY_H

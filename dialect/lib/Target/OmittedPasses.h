// Passes of LLVM's code generation that a module omits (OmittedPasses.cpp).
#ifndef ARRAY_LIB_TARGET_OMITTEDPASSES_H
#define ARRAY_LIB_TARGET_OMITTEDPASSES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

namespace mlir::array {

/// The names of the options that disable them.
llvm::SmallVector<llvm::StringRef, 2> omittedPasses(const llvm::Module &module);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_OMITTEDPASSES_H

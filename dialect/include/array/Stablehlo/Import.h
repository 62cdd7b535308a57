// StableHLO -> array: programs of JAX and PyTorch, as text, become modules of the array dialect. array-translate and
// the Python binding call it. The result is compiled like any other module.
#ifndef ARRAY_STABLEHLO_IMPORT_H
#define ARRAY_STABLEHLO_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace mlir::array {

/// The verified array module for the StableHLO module in the main buffer of `sources`; its entry is @main. Null after
/// an error, which names an unsupported operation and its line. The context has the array dialect and func.
OwningOpRef<ModuleOp> importStablehlo(llvm::SourceMgr &sources, MLIRContext *context);

/// The names of the supported operations, sorted. docs/stablehlo.md lists them.
std::vector<std::string> takenOperations();

} // namespace mlir::array

#endif // ARRAY_STABLEHLO_IMPORT_H

// The stages on the way of a module from the array dialect to code: one table, for array-opt's --compile-to and for the
// binding. A stage is MLIR, or code that is made of the last stage that is.
#ifndef ARRAY_TARGET_MODULEAT_H
#define ARRAY_TARGET_MODULEAT_H

#include "array/Target/Compile.h"

#include "mlir/IR/OwningOpRef.h"

namespace mlir::array {

struct StageOptions {
  CompileOptions host;                ///< For the stages of a CPU.
  std::string chip;                   ///< For those of a GPU: "sm_90".
  std::vector<std::string> libraries; ///< Libraries of the GPU that the program may call: "cublaslt".
  bool hasLines = false;              ///< Code names the lines of the program that it comes from.
};

/// A module on its way (ModuleAt.cpp).
struct Lowering;

struct Stage {
  llvm::StringLiteral name, description;
  bool isForGpu; ///< On the way to a GPU; otherwise to a CPU.
  bool isText;
  LogicalResult (*lower)(Lowering &);                             ///< From the stage before, if this one is MLIR.
  FailureOr<std::string> (*emit)(ModuleOp, const StageOptions &); ///< Otherwise; the module may be taken apart.

  bool isCode() const { return emit; }
};

/// All of them, in order, those for a CPU first.
llvm::ArrayRef<Stage> stages();

/// A copy of a module of the array dialect at a stage; where that is code, at the last one that is MLIR. On failure a
/// diagnostic has been emitted.
FailureOr<OwningOpRef<ModuleOp>> lowerTo(ModuleOp module, const Stage &stage, const StageOptions &options);

/// The names of those for a CPU that are text; and the text of a module after one of them, if
/// `hasLines` with the places in the program that it comes from. The module is left as it is.
std::vector<std::string> shownStages();
FailureOr<std::string> moduleAt(ModuleOp module, llvm::StringRef stage, const CompileOptions &options,
                                bool hasLines = false);

} // namespace mlir::array

#endif // ARRAY_TARGET_MODULEAT_H

// The stages of the lowering from the array dialect to code: one table for array-opt's --compile-to and for the
// binding. A stage is MLIR, or code that is made from the last MLIR stage.
#ifndef ARRAY_TARGET_MODULEAT_H
#define ARRAY_TARGET_MODULEAT_H

#include "array/Target/Compile.h"

#include "mlir/IR/OwningOpRef.h"

namespace mlir::array {

struct StageOptions {
  CompileOptions host;                ///< For CPU stages.
  std::string chip;                   ///< For GPU stages: "sm_90".
  std::vector<std::string> libraries; ///< Libraries of the GPU that the program may call: "cublaslt".
  bool hasLines = false;              ///< Code has the source lines of its instructions.
};

/// A module during the lowering (ModuleAt.cpp).
struct Lowering;

struct Stage {
  llvm::StringLiteral name, description;
  bool isForGpu; ///< The stage belongs to the GPU; otherwise to the CPU.
  bool isText;
  LogicalResult (*lower)(Lowering &);                             ///< Lowers from the stage before, if this stage is
                                                                  ///< MLIR.
  FailureOr<std::string> (*emit)(ModuleOp, const StageOptions &); ///< Otherwise emits the text; the module may be
                                                                  ///< consumed.

  bool isCode() const { return emit; }
};

/// All stages, in order, the CPU's first.
llvm::ArrayRef<Stage> stages();

/// A copy of a module of the array dialect, lowered to a stage. If the stage is code, lowered to the last MLIR stage
/// before it. On failure a diagnostic has been emitted.
FailureOr<OwningOpRef<ModuleOp>> lowerTo(ModuleOp module, const Stage &stage, const StageOptions &options);

/// The names of the CPU stages that are text; and the text of a module after one of them, with source lines if
/// `hasLines`. The module does not change.
std::vector<std::string> shownStages();
FailureOr<std::string> moduleAt(ModuleOp module, llvm::StringRef stage, const CompileOptions &options,
                                bool hasLines = false);

} // namespace mlir::array

#endif // ARRAY_TARGET_MODULEAT_H

// Pass managers that are kept with their context: building one, with the pattern sets of its passes, takes longer than
// running it on a small module. Compile.cpp runs its pipelines through here.
#ifndef ARRAY_LIB_TARGET_KEPTPIPELINES_H
#define ARRAY_LIB_TARGET_KEPTPIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::array {

/// Names and milliseconds, in order.
using Timings = std::vector<std::pair<std::string, double>>;

/// Runs the pipeline `name` and records the time of each pass. `build` creates the pipeline at its first use. If a pass
/// fails without a diagnostic, the error names the pass.
LogicalResult runPipeline(ModuleOp module, llvm::StringRef name, llvm::function_ref<void(OpPassManager &)> build,
                          Timings &passes);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_KEPTPIPELINES_H

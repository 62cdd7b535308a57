// Pass managers that are kept with their context: to build one, and the pattern sets of its passes, takes longer than
// to run it on a small module. Compile.cpp runs its pipelines through here.
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

/// Runs the pipeline that is known as `name`, which `build` makes when it is asked for first, and notes the time of
/// each pass. A pass that fails without saying why is named at least.
LogicalResult runPipeline(ModuleOp module, llvm::StringRef name, llvm::function_ref<void(OpPassManager &)> build,
                          Timings &passes);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_KEPTPIPELINES_H

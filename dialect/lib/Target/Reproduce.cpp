// Reproducers of a compilation before LLVM's part, for array-opt: the module with its passes. Uses the names of the
// pipelines in Compile.cpp and Gpu.cpp.
#include "Stages.h"
#include "array/Pipelines/Cpu.h"

#include "mlir/IR/AsmState.h"

namespace mlir::array {

/// The resource in which --run-reproducer finds the passes.
static constexpr llvm::StringLiteral kResource = "mlir_reproducer";

static std::string print(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  build(manager);
  std::string passes, text;
  llvm::raw_string_ostream names(passes), stream(text);
  manager.printAsTextualPipeline(names);
  AsmState state(module, OpPrintingFlags().enableDebugInfo());
  state.attachResourcePrinter(kResource, [&](Operation *, AsmResourceBuilder &builder) {
    builder.buildString("pipeline", passes);
    builder.buildBool("disable_threading", true);
    builder.buildBool("verify_each", true);
  });
  module->print(stream, state);
  return text;
}

FailureOr<std::string> reproducerFor(ModuleOp module, const CompileOptions &options) {
  FailureOr<HostTarget *> target = getTarget(module, options);
  if (failed(target))
    return failure();
  return print(module, [&](OpPassManager &pm) { buildArrayToLLVMPipeline(pm, (*target)->features()); });
}

FailureOr<std::string> reproducerFor(ModuleOp module, const GpuOptions &options) {
  FailureOr<GpuChip> chip = chipOf(module, options.capability);
  if (failed(chip))
    return failure();
  return print(module, [&](OpPassManager &pm) { buildArrayToGpuPipeline(pm, *chip, options.libraries); });
}

} // namespace mlir::array

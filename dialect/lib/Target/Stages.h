// The stages that compilations for a CPU (Compile.cpp) and for a GPU (Gpu.cpp) share.
#ifndef ARRAY_LIB_TARGET_STAGES_H
#define ARRAY_LIB_TARGET_STAGES_H

#include "BuiltLevel.h"
#include "KeptPipelines.h"
#include "array/Pipelines/Gpu.h"
#include "array/Target/Compile.h"

#include "mlir/IR/OwningOpRef.h"
#include <chrono>

namespace mlir::array {

/// Runs `stage` and records its time under `name`.
template <typename Stage> auto timed(Timings &timings, StringRef name, Stage stage) {
  auto start = std::chrono::steady_clock::now();
  auto result = stage();
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  timings.emplace_back(name.str(), elapsed.count());
  return result;
}

/// The name that distinguishes kept pipelines by features.
std::string nameOf(const CpuFeatures &features);

/// The message of a diagnostic, if it is an error.
LogicalResult report(ModuleOp module, llvm::Error error);

FailureOr<HostTarget *> getTarget(ModuleOp module, const CompileOptions &options);

/// The best chip whose code runs on GPUs of a compute capability ("9.0").
FailureOr<GpuChip> chipOf(ModuleOp module, StringRef capability);

/// A copy of a module with @main and its callees, which are private: they will be inlined, and all other functions are
/// dropped.
OwningOpRef<ModuleOp> cloneForMain(ModuleOp module);

/// linalg on tensors -> linalg on buffers. If bufferization finds no order in which the carries of loops can be updated
/// in place, the carries are copied.
LogicalResult toBuffers(OwningOpRef<ModuleOp> &module, const CpuFeatures &features, Timings &passes);

/// linalg on buffers -> loops.
LogicalResult toLoops(ModuleOp module, const CpuFeatures &features, Timings &passes);

/// The planned size of the arena.
uint64_t arenaBytes(ModuleOp module);

/// The LLVM dialect -> a relocatable object for the runtime's loader; `built` has functions that it may call.
FailureOr<std::vector<char>> toObject(ModuleOp module, const HostTarget &target, const BuiltLevel *built,
                                      const CompileOptions &options, Timings &timings);

// For a GPU (Gpu.cpp). The array dialect -> linalg on tensors, with a thread for each element.
LogicalResult toLinalgForThreads(ModuleOp module, Timings &passes);

/// linalg on buffers -> the host's part, with the kernels that it launches.
LogicalResult toKernels(ModuleOp module, GpuChip chip, llvm::ArrayRef<std::string> libraries, Timings &passes);

/// Moves the kernels to a module of their own; and lowers it to the NVVM dialect.
OwningOpRef<ModuleOp> takeKernels(ModuleOp module);
LogicalResult toNvvm(ModuleOp kernels, GpuChip chip, Timings &passes);

/// Kernels in the NVVM dialect -> PTX, if `hasLines` with the places of its instructions.
FailureOr<std::string> toPtx(ModuleOp kernels, bool hasLines, Timings &passes);

/// Loads the dialects that these functions need into a context.
void loadGpuDialects(MLIRContext *context);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_STAGES_H

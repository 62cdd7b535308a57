// From a module of the array dialect to object code in memory that runtime/ loads without LLVM, with a device's kernels
// if it is for one.
#ifndef ARRAY_TARGET_COMPILE_H
#define ARRAY_TARGET_COMPILE_H

#include "array/Bufferize/MemoryPlan.h"
#include "array/Cpu/MatmulPlans.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::array {

struct CompileOptions {
  std::string cpu;      ///< An LLVM CPU name; empty for this machine's, or for the least one of `triple`.
  std::string features; ///< LLVM target features ("+avx2,-avx512f"); empty for this machine's, when `cpu` is empty too.
  int optLevel = 2;     ///< LLVM's code generation level, 0 to 3.
  std::string triple;   ///< Another kind of machine ("aarch64-linux-gnu"); empty for this one's.
};

struct CompiledObject {
  std::vector<char> object;   ///< A relocatable ELF file, position independent.
  std::string entry;          ///< The symbol of the C entry, a PcrtEntry.
  uint64_t arenaBytes = 0;    ///< What the frame's arena must hold.
  double flops = 0;           ///< Estimated scalar operations of one call; the runtime runs a cheap call inline.
  bool isUnbounded = false;   ///< How long a call takes depends on data.
  bool hasLoopBudget = false; ///< Then: a call gives up when its frame's budget is used up.
  /// What can fail, by its number in the status less one: the primitive, and the place in the program or nothing.
  std::vector<std::pair<std::string, std::string>> sites;
  std::vector<char> image;          ///< For a GPU: its kernels, as the driver takes them.
  std::vector<std::string> kernels; ///< Their names, by number.
  bool waits = false;               ///< A call waits for what the device has computed, before it can go on.
  unsigned symbols = 0;             ///< How many sizes a call decides; pcrt_plan says its arena then.
  /// The shapes of the arguments and the results that have such sizes, as maps from the symbols; null for the others.
  std::vector<AffineMap> argumentDims, resultDims;
  std::vector<std::pair<std::string, double>> timings; ///< Stages in order, milliseconds.
  std::vector<std::pair<std::string, double>> passes;  ///< The passes of the first stages, in order of their end.
};

/// Compiles @main. The module is left as it is. On failure a diagnostic has been emitted.
FailureOr<CompiledObject> compileToObject(ModuleOp module, const CompileOptions &options);

struct GpuOptions {
  std::string capability; ///< Compute capability, "9.0".
  /// Kernels as an object for this CPU, which the emulated device of the tests takes, rather than PTX.
  bool isEmulated = false;
  /// Libraries of the GPU that the program may call: "cublaslt".
  std::vector<std::string> libraries;
  /// PTX names the lines of the program that its instructions come from.
  bool hasLines = false;
};

/// Compiles @main for this machine and the kernels that it launches for a GPU. The module is left as it is. On failure
/// a diagnostic has been emitted.
FailureOr<CompiledObject> compileForGpu(ModuleOp module, const GpuOptions &options);

/// Forgets the objects of kernels that were kept for other modules.
void forgetObjects();

/// The module as text, with the passes that compile it in MLIR's form of a reproducer: `array-opt --run-reproducer`
/// does what compileToObject and compileForGpu do before LLVM's part.
FailureOr<std::string> reproducerFor(ModuleOp module, const CompileOptions &options);
FailureOr<std::string> reproducerFor(ModuleOp module, const GpuOptions &options);

/// Where the temporaries of the compiled module lie. The module is left as it is.
FailureOr<std::vector<PlannedBuffer>> memoryPlan(ModuleOp module, const CompileOptions &options);

/// The plans worth measuring for the one product or convolution of the module; none where it has none. The module is
/// left as it is.
FailureOr<std::vector<MatmulPlan>> matmulPlans(ModuleOp module, const CompileOptions &options);

/// The loops of a module of linalg on tensors whose numbers of trips depend on data, and may have no end.
struct UnboundedLoops {
  bool whileLoops = false, forLoops = false;
};
UnboundedLoops findUnboundedLoops(ModuleOp module);

/// Estimated scalar operations of one run of a module of linalg on tensors.
double estimateFlops(ModuleOp module);

} // namespace mlir::array

#endif // ARRAY_TARGET_COMPILE_H

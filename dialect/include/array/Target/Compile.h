// Compiles a module of the array dialect to object code in memory, which runtime/ loads without LLVM. Code for a device
// includes its kernels.
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
  std::string cpu;      ///< An LLVM CPU name. Empty: this machine's, or the baseline of `triple`.
  std::string features; ///< LLVM target features ("+avx2,-avx512f"). Empty: this machine's, if `cpu` is empty, too.
  int optLevel = 2;     ///< LLVM's code generation level, 0 to 3.
  std::string triple;   ///< Another kind of machine ("aarch64-linux-gnu"). Empty: this machine's.
};

struct CompiledObject {
  std::vector<char> object;   ///< A relocatable ELF file, position independent.
  std::string entry;          ///< The symbol of the C entry, a PcrtEntry.
  uint64_t arenaBytes = 0;    ///< The size of the frame's arena.
  double flops = 0;           ///< Estimated scalar operations of one call; the runtime runs a cheap call inline.
  bool isUnbounded = false;   ///< The duration of a call depends on data.
  bool hasLoopBudget = false; ///< Then: a call stops when its frame's budget is used up.
  /// The call sites that can fail, by call-site id - 1: the primitive, and the place in the program or an empty string.
  std::vector<std::pair<std::string, std::string>> sites;
  std::vector<char> image;          ///< For a GPU: its kernels, in a form that the driver loads.
  std::vector<std::string> kernels; ///< Their names, by number.
  bool waits = false;               ///< A call waits for values that the device computes.
  unsigned symbols = 0;             ///< Number of sizes that are known only at a call; if any, pcrt_plan gives the
                                    ///< arena's size.
  /// `array.symbols` of all symbols, also of those that follow from the given ones.
  ArrayAttr symbolEntries;
  /// The shapes of arguments and results with such sizes, as maps from the symbols; null for the others.
  std::vector<AffineMap> argumentDims, resultDims;
  std::vector<std::pair<std::string, double>> timings; ///< Stages in order, milliseconds.
  std::vector<std::pair<std::string, double>> passes;  ///< The passes of the first stages, in the order in which they
                                                       ///< ended.
};

/// Compiles @main. The module does not change. On failure a diagnostic has been emitted.
FailureOr<CompiledObject> compileToObject(ModuleOp module, const CompileOptions &options);

struct GpuOptions {
  std::string capability; ///< Compute capability, "9.0".
  /// Emits kernels as an object for this CPU, for the emulated GPU of the tests, rather than PTX.
  bool isEmulated = false;
  /// Libraries of the GPU that the program may call: "cublaslt".
  std::vector<std::string> libraries;
  /// PTX has the source lines of its instructions.
  bool hasLines = false;
};

/// Compiles @main for this machine and its kernels for a GPU. The module does not change. On failure a diagnostic has
/// been emitted.
FailureOr<CompiledObject> compileForGpu(ModuleOp module, const GpuOptions &options);

/// Drops the cached objects of kernels that other modules could reuse.
void forgetObjects();

/// The module as text, with the passes that compile it, as an MLIR reproducer: `array-opt --run-reproducer` runs the
/// same passes as compileToObject and compileForGpu before LLVM's part.
FailureOr<std::string> reproducerFor(ModuleOp module, const CompileOptions &options);
FailureOr<std::string> reproducerFor(ModuleOp module, const GpuOptions &options);

/// The memory plan of the compiled module. The module does not change.
FailureOr<std::vector<PlannedBuffer>> memoryPlan(ModuleOp module, const CompileOptions &options);
FailureOr<std::vector<PlannedBuffer>> memoryPlan(ModuleOp module, const GpuOptions &options);

/// The plans worth measuring for the one matmul or convolution of the module; none if it has none. The module does not
/// change.
FailureOr<std::vector<MatmulPlan>> matmulPlans(ModuleOp module, const CompileOptions &options);

/// The loops of a module of linalg on tensors whose trip counts depend on data. They may not terminate.
struct UnboundedLoops {
  bool whileLoops = false, forLoops = false;
};
UnboundedLoops findUnboundedLoops(ModuleOp module);

/// Estimated scalar operations of one run of a module of linalg on tensors.
double estimateFlops(ModuleOp module);

} // namespace mlir::array

#endif // ARRAY_TARGET_COMPILE_H

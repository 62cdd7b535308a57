// --compile-to=<stage>: lowers to a stage of array/Target/ModuleAt.h, as the compiler does. In the tool it is a pass
// after the named ones, so mlir-opt's flags for passes apply to it.
#ifndef ARRAY_TOOLS_COMPILETO_H
#define ARRAY_TOOLS_COMPILETO_H

namespace llvm {
class raw_ostream;
struct LogicalResult;
} // namespace llvm
namespace mlir {
class MlirOptMainConfig;
} // namespace mlir

namespace mlir::array {

/// Registers the flags, and the pass `array-compile-to`. To be called before the command line is parsed.
void registerCompileTo();

/// Whether --compile-to is on the command line.
bool isCompileToGiven();

/// Fails, with a message, if the flags of the compilation conflict with others.
llvm::LogicalResult checkFlags(const MlirOptMainConfig &config);

/// Adds the compiling pass to the passes of `config`. Returns the stream for the module: `output` itself, or a null
/// stream if the stage is code, which is written to `output`.
llvm::raw_ostream &addCompilation(MlirOptMainConfig &config, llvm::raw_ostream &output);

} // namespace mlir::array

#endif // ARRAY_TOOLS_COMPILETO_H

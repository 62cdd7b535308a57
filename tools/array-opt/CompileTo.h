// --compile-to=<stage>: the way that the compiler takes, up to a stage of array/Target/ModuleAt.h. In the tool it is
// a pass after those that are named: what mlir-opt's flags say of passes holds for it.
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

/// Makes the flags known, and the pass `array-compile-to`. Before the command line is parsed.
void registerCompileTo();

/// Whether --compile-to is on the command line.
bool isCompileToGiven();

/// Fails, and says why, where the flags of the compilation don't go together with others.
llvm::LogicalResult checkFlags(const MlirOptMainConfig &config);

/// Adds to the passes of `config` the one that compiles. Returns the stream to which the module is to be printed:
/// `output` itself, or nowhere if the stage is code, which is written to `output`.
llvm::raw_ostream &addCompilation(MlirOptMainConfig &config, llvm::raw_ostream &output);

} // namespace mlir::array

#endif // ARRAY_TOOLS_COMPILETO_H

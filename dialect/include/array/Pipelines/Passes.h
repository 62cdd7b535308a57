// The passes of the pipelines by their names, for those who write pipelines as text.
#ifndef ARRAY_PIPELINES_PASSES_H
#define ARRAY_PIPELINES_PASSES_H

namespace mlir::array {

/// Registers every pass that a pipeline of this library has, MLIR's general transforms, and the pipelines.
void registerPipelinePasses();

/// The names that passes had in the version before, which still work.
void registerOldPassNames();

/// Of these the passes and pipelines that are ours.
void registerOwnPasses();

} // namespace mlir::array

#endif // ARRAY_PIPELINES_PASSES_H

// The passes of the pipelines by their names, for pipelines that are written as text.
#ifndef ARRAY_PIPELINES_PASSES_H
#define ARRAY_PIPELINES_PASSES_H

namespace mlir::array {

/// Registers every pass of this library's pipelines, MLIR's general transforms, and the pipelines.
void registerPipelinePasses();

/// Registers the passes under their names in the previous version, too.
void registerOldPassNames();

/// Registers only the passes and pipelines of this library.
void registerOwnPasses();

} // namespace mlir::array

#endif // ARRAY_PIPELINES_PASSES_H

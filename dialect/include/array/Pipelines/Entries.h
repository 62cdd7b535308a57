// Support for modules of several functions in --array-to-llvm: array-separate-entries, array-join-entries and
// array-give-buffers. The stages of Cpu.h run between them.
#ifndef ARRAY_PIPELINES_ENTRIES_H
#define ARRAY_PIPELINES_ENTRIES_H

#include "array/Pipelines/Cpu.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::array {

/// Each public function with a body becomes @main of its own module, in which all other functions are private.
std::unique_ptr<Pass> createSeparateEntries();

/// Joins these modules again: @f, its C entry @pcrt_f, and their callees.
std::unique_ptr<Pass> createJoinEntries();

/// The stage of buildLinalgToBuffersPipeline. Carries of loops are copied if they cannot be updated in place.
std::unique_ptr<Pass> createGiveBuffers(const CpuFeatures &features);

/// Whether the module has loops or branches, whose carries may need copies.
bool hasCarry(ModuleOp module);

/// Emits the remark that carries are copied, with the failures of the attempt without copies.
void tellOfCopiedCarry(ModuleOp module, const std::vector<Diagnostic> &failures);

void registerEntryPasses();

} // namespace mlir::array

#endif // ARRAY_PIPELINES_ENTRIES_H

// What a module of any number of functions is to --array-to-llvm: array-separate-entries, array-join-entries and
// array-give-buffers, between which the stages of Cpu.h run.
#ifndef ARRAY_PIPELINES_ENTRIES_H
#define ARRAY_PIPELINES_ENTRIES_H

#include "array/Pipelines/Cpu.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::array {

/// Each public function that has a body becomes @main of a module of its own, in which all others are private.
std::unique_ptr<Pass> createSeparateEntries();

/// Puts these modules together again: @f and its C entry @pcrt_f, and what they call.
std::unique_ptr<Pass> createJoinEntries();

/// The stage of buildLinalgToBuffersPipeline, with the carry of loops copied where it can't be updated in place.
std::unique_ptr<Pass> createGiveBuffers(const CpuFeatures &features);

/// Whether there are loops or branches, whose carry may have to be copied.
bool hasCarry(ModuleOp module);

/// Says that it is, and what the attempt without copies failed with.
void tellOfCopiedCarry(ModuleOp module, const std::vector<Diagnostic> &failures);

void registerEntryPasses();

} // namespace mlir::array

#endif // ARRAY_PIPELINES_ENTRIES_H

// Routines that a GPU library computes (`array.library`, set by array-map-to-gpu-libraries): the operations around its
// calls, for example because it takes matrices column by column. The rows are in MapRoutinesToGpuLibraries.cpp.
#ifndef ARRAY_LIB_GPU_ROUTINES_LIBRARYROUTINES_H
#define ARRAY_LIB_GPU_ROUTINES_LIBRARYROUTINES_H

#include "RoutineLauncher.h"

namespace mlir::array {

/// The row for a name, or null.
const Routine *findLibraryRoutine(StringRef name);

/// In MapRoutinesToGpuFft.cpp: uses kernels or a library.
LogicalResult mapFft(RoutineLauncher &launcher);

/// Replaces `of` by a call of a library's routine. runtime/lib/cuda/LibraryTable.cpp defines its operands; operands in
/// both lists are changed in place. `elements` has the element types of inputs, then of outputs, because buffers hold
/// the bits of complex numbers.
RuntimeCallOp callLibrary(RoutineLauncher &of, StringRef routine, ArrayRef<int64_t> params, ArrayRef<Value> ins,
                          ArrayRef<Value> outs, ArrayRef<Type> elements);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROUTINES_LIBRARYROUTINES_H

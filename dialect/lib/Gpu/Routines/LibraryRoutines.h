// Routines that a library of the GPU's maker does (`array.library`, by array-map-to-gpu-libraries): what is to be done
// around its calls, as it takes matrices column by column, say. The rows are in MapRoutinesToGpuLibraries.cpp.
#ifndef ARRAY_LIB_GPU_ROUTINES_LIBRARYROUTINES_H
#define ARRAY_LIB_GPU_ROUTINES_LIBRARYROUTINES_H

#include "RoutineLauncher.h"

namespace mlir::array {

/// The row for a name, or null.
const Routine *findLibraryRoutine(StringRef name);

/// In MapRoutinesToGpuFft.cpp: by kernels or by a library.
LogicalResult mapFft(RoutineLauncher &launcher);

/// A call of a routine by the library that does `of`, in its place. runtime/lib/cuda/LibraryTable.cpp says
/// what its operands are; those in both lists are changed in place. `elements` says what the elements of inputs, then
/// of outputs, are, as buffers hold the bits of complex ones.
RuntimeCallOp callLibrary(RoutineLauncher &of, StringRef routine, ArrayRef<int64_t> params, ArrayRef<Value> ins,
                          ArrayRef<Value> outs, ArrayRef<Type> elements);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROUTINES_LIBRARYROUTINES_H

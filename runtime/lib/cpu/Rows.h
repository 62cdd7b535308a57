// Routines of the table that treat each element of the first dimension by itself: threads share those.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H

#include "runtime/Abi.h"

namespace pcrt::library {

/// Calls `routine` on blocks of the first dimension, which all operands have in common, in as many threads as are free;
/// on the whole where that is not so or the work is little, or unless `mayCut`. `nsOfElement` is what an element of the
/// first input takes. What follows are the routine's own arguments.
int32_t overRows(PcrtLibraryCall routine, bool mayCut, double nsOfElement, const PcrtFrame *frame,
                 const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs, int32_t outputCount,
                 const int64_t *params);

} // namespace pcrt::library

#endif // PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H

// Routines of the table that process each element of the first dimension separately, so that threads can share the
// elements.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H

#include "runtime/Abi.h"

namespace pcrt::library {

/// Calls `routine` on blocks of the first dimension, which must be common to all operands, in as many threads as are
/// free. Calls it once on the whole if the dimension is not common, if the work is little, or unless `mayCut`.
/// `nsOfElement` is the time of an element of the first input. Blocks are multiples of `together` rows. The other
/// parameters are the routine's own arguments.
int32_t overRows(PcrtLibraryCall routine, bool mayCut, double nsOfElement, const PcrtFrame *frame,
                 const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs, int32_t outputCount,
                 const int64_t *params, int64_t together = 1);

} // namespace pcrt::library

#endif // PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H

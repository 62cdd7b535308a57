// The routines of the table in the call frame: one function for each name of PCRT_LIBRARY_CALLS, and loops that threads
// share.
#ifndef PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H
#define PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H

#include "runtime/Abi.h"

namespace pcrt::library {

#define PCRT_DECLARE(name)                                                                                             \
  int32_t name(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,        \
               int32_t outputCount, const int64_t *params);
PCRT_LIBRARY_CALLS(PCRT_DECLARE)
#undef PCRT_DECLARE

/// The table's parallel_for, over the threads of the run's device. Without a run, or where everything runs in the
/// thread that asks for it: in this thread.
int32_t parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count, int64_t grain);

} // namespace pcrt::library

#endif // PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H

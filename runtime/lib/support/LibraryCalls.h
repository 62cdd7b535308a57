// The routines of the table in the call frame: one function for each name of PCRT_LIBRARY_CALLS, loops that threads
// share, and kernels.
#ifndef PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H
#define PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H

#include "runtime/Abi.h"

namespace pcrt::library {

#define PCRT_DECLARE(name)                                                                                             \
  int32_t name(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,        \
               int32_t outputCount, const int64_t *params);
PCRT_LIBRARY_CALLS(PCRT_DECLARE)
#undef PCRT_DECLARE

/// The table's parallel_for, over the threads of the run's device. In this thread if there is no run, or if everything
/// runs in the calling thread.
int32_t parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count, int64_t grain);

/// The number of threads that may share a loop of parallelFor.
int64_t threadsOf(const PcrtFrame *frame);

/// Operations of the run's device: see PcrtLaunch and PcrtRead.
int32_t launch(const PcrtFrame *frame, int32_t kernel, const PcrtLaunchShape *shape, void *const *params);
int32_t read(const PcrtFrame *frame, const void *source, void *target, int64_t bytes);

} // namespace pcrt::library

#endif // PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H

// The library routines of the table in the call frame, one function for each name of PCRT_LIBRARY_CALLS.
#ifndef PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H
#define PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H

#include "runtime/Abi.h"

namespace pcrt::library {

#define PCRT_DECLARE(name)                                                                                             \
  int32_t name(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,        \
               int32_t outputCount, const int64_t *params);
PCRT_LIBRARY_CALLS(PCRT_DECLARE)
#undef PCRT_DECLARE

} // namespace pcrt::library

#endif // PYCOMPILER_RUNTIME_LIB_LIBRARYCALLS_H

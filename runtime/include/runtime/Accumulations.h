// The combinations of the routines `cumulative` and `reduce_window`: ROW(Name, name), where `Name` is the template of
// the runtime (CumulativeOperations.h, WindowOperations.h) and `name` a part of the names of kernels. The number of a
// row is the first parameter of the routine.
#ifndef PYCOMPILER_RUNTIME_ACCUMULATIONS_H
#define PYCOMPILER_RUNTIME_ACCUMULATIONS_H

#include <cstdint>

#define PCRT_WINDOW_ACCUMULATIONS(ROW) ROW(Sum, sum) ROW(Product, product) ROW(Max, max) ROW(Min, min)
#define PCRT_ACCUMULATIONS(ROW) PCRT_WINDOW_ACCUMULATIONS(ROW) ROW(LogSumExp, logsumexp)

namespace pcrt {

enum class Accumulation : int64_t {
#define PCRT_ROW(Name, name) Name,
  PCRT_ACCUMULATIONS(PCRT_ROW)
#undef PCRT_ROW
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_ACCUMULATIONS_H

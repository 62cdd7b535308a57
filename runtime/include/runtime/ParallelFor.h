// Loops whose iterations the threads of a pool share. After ThreadPool.
#ifndef PYCOMPILER_RUNTIME_PARALLELFOR_H
#define PYCOMPILER_RUNTIME_PARALLELFOR_H

#include "runtime/Abi.h"

namespace pcrt {

class ThreadPool;

/// Computes the iterations [0, count) of a loop, in pieces of at least `grain` iterations (except for the last one), in
/// this thread and in idle threads of the pool; returns when all are done. The status is that of the first failing
/// piece in the order of the loop. One piece in this thread: within another such loop, with one thread, after shutdown.
int32_t parallelFor(ThreadPool &pool, const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                    int64_t grain);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_PARALLELFOR_H

// Loops whose iterations the threads of a pool share. After ThreadPool.
#ifndef PYCOMPILER_RUNTIME_PARALLELFOR_H
#define PYCOMPILER_RUNTIME_PARALLELFOR_H

#include "runtime/Abi.h"

namespace pcrt {

class ThreadPool;

/// In its scope, loops of the calling thread run in at most `count` threads, this one among them. An inner scope
/// overrides the outer one.
class ThreadLimit {
public:
  explicit ThreadLimit(unsigned count);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;
  ThreadLimit &operator=(const ThreadLimit &) = delete;

private:
  const unsigned before;
};

/// Computes the iterations [0, count) of a loop, in pieces of at least `grain` iterations (except for the last one), in
/// this thread and in idle threads of the pool; returns when all are done. The status is that of the first failing
/// piece in the order of the loop. One piece in this thread: within another such loop, with one thread, after shutdown,
/// and while no other thread is awake, for fewer than 16 pieces of several iterations.
int32_t parallelFor(ThreadPool &pool, const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                    int64_t grain);

/// The maximum number of threads of the pool for a loop of this thread, including this thread.
int64_t threadsOfLoops(const ThreadPool &pool);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_PARALLELFOR_H

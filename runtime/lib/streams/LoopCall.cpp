// The table's parallel_for in a run on a device: its threads share the loop.
#include "runtime/Device.h"
#include "runtime/ParallelFor.h"
#include "runtime/RunContext.h"
#include "runtime/Stream.h"
#include "support/LibraryCalls.h"

using namespace pcrt;

/// The threads of the run's device; null if everything runs in the calling thread.
static ThreadPool *poolOf(const PcrtFrame *frame) {
  if (!frame || !frame->context)
    return nullptr;
  Device &device = RunContext::of(frame).device;
  return device.stream().isInPlace() ? nullptr : &device.threads();
}

int32_t library::parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                             int64_t grain) {
  ThreadPool *pool = poolOf(frame);
  return pool ? pcrt::parallelFor(*pool, frame, body, captured, count, grain) : body(frame, captured, 0, count);
}

int64_t library::threadsOf(const PcrtFrame *frame) {
  ThreadPool *pool = poolOf(frame);
  return pool ? threadsOfLoops(*pool) : 1;
}

// The table's parallel_for in a run on a device: its threads share the loop.
#include "runtime/Device.h"
#include "runtime/ParallelFor.h"
#include "runtime/RunContext.h"
#include "runtime/Stream.h"
#include "support/LibraryCalls.h"

using namespace pcrt;

int32_t library::parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                             int64_t grain) {
  if (!frame || !frame->context)
    return body(frame, captured, 0, count);
  Device &device = RunContext::of(frame).device;
  if (device.stream().isInPlace())
    return body(frame, captured, 0, count);
  return pcrt::parallelFor(device.threads(), frame, body, captured, count, grain);
}

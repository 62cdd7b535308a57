// The table's parallel_for in a run on a device: its threads share the loop.
#include "LibraryCalls.h"
#include "runtime/Device.h"
#include "runtime/RunContext.h"

using namespace pcrt;

int32_t library::parallelFor(const PcrtFrame *frame, PcrtLoopBody body, const void *captured, int64_t count,
                             int64_t grain) {
  if (!frame || !frame->context)
    return body(frame, captured, 0, count);
  Device &device = RunContext::of(frame).device;
  if (device.stream().isInPlace())
    return body(frame, captured, 0, count);
  return device.threads().parallelFor(frame, body, captured, count, grain);
}

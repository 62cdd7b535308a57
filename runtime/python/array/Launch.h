// Launches from Python, on buffers: the short path is inline here. Paths that wait, or release the GIL, are not
// inlined.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_LAUNCH_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_LAUNCH_H

#include "runtime/Device.h"
#include "runtime/Stream.h"
#include "support/CallSite.h"

namespace pcrt::python {

/// Not inlined into `launchOn`, so that short launches in place do not pay for it.
[[gnu::noinline]] bool launchLong(Stream &stream, Launch &launch, Stream::LaunchPolicy policy, uint64_t resultBytes);

/// Makes the launch on a device, and holds its arguments; false if waiting for room was interrupted.
inline bool launchOn(Device &device, const Launch &request, uint64_t resultBytes) {
  Stream &stream = device.stream();
  Launch launch = request;
  Stream::LaunchPolicy policy = stream.policyOf(launch);
  if (policy != Stream::LaunchPolicy::Inline)
    return launchLong(stream, launch, policy, resultBytes);
  launch.findPlace = callSite;
  stream.runInPlace(launch);
  return true;
}

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_ARRAY_LAUNCH_H

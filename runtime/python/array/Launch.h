// Launches from Python, on buffers: the short path is inline here. Paths that wait, or release the GIL, are not
// inlined.
#ifndef PYCOMPILER_RUNTIME_PYTHON_ARRAY_LAUNCH_H
#define PYCOMPILER_RUNTIME_PYTHON_ARRAY_LAUNCH_H

#include "runtime/Device.h"
#include "runtime/Stream.h"
#include "support/CallSite.h"

namespace pcrt::python {

/// The arguments of a launch, held while the GIL is released: another thread may delete or donate their arrays.
class HeldArguments {
public:
  HeldArguments(Buffer *const *args, size_t count) : args(args), count(count) {
    for (size_t i = 0; i < count; ++i)
      args[i]->retain();
  }
  explicit HeldArguments(const Launch &launch) : HeldArguments(launch.args, launch.argCount) {}
  ~HeldArguments() {
    for (size_t i = 0; i < count; ++i)
      args[i]->release();
  }
  HeldArguments(const HeldArguments &) = delete;
  HeldArguments &operator=(const HeldArguments &) = delete;

private:
  Buffer *const *const args;
  const size_t count;
};

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

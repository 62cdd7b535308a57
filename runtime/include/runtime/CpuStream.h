// The stream of a CPU: executions run on the pool's threads, or, if they are short, in the launching thread. After
// Stream; CpuDevice has one.
#ifndef PYCOMPILER_RUNTIME_CPUSTREAM_H
#define PYCOMPILER_RUNTIME_CPUSTREAM_H

#include "runtime/Stream.h"

namespace pcrt {

class CpuStream final : public Stream {
public:
  /// `inPlace`: every launch runs in the launching thread.
  CpuStream(Device &device, bool inPlace, RunAhead bound = {}) : Stream(device, inPlace, bound) {}

  LaunchPolicy policyOf(const Launch &launch) const override;
  void runInPlace(const Launch &launch) override;
  bool runSpeculatively(const Launch &launch) override;

private:
  friend class CpuExecution;
  void start(const Launch &launch) override;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_CPUSTREAM_H

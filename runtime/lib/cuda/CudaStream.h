// The stream of a CUDA device. The host's part of an execution runs as soon as its inputs are on the stream; the tokens
// are done when the device is. After Execution and DeviceResources; CudaDevice has one.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDASTREAM_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDASTREAM_H

#include "driver/DeviceResources.h"
#include "runtime/Stream.h"

#include <mutex>

namespace pcrt::cuda {

class CudaStream final : public Stream {
public:
  CudaStream(Device &device, DeviceResources &resources, bool inPlace, RunAhead bound)
      : Stream(device, inPlace, bound), resources(resources) {}

  /// Always enqueue: a launch is never long, and if the host's part may be, the pool runs it.
  LaunchPolicy policyOf(const Launch &) const override {
    return isInPlace() ? LaunchPolicy::InlineWithoutGil : LaunchPolicy::Async;
  }
  void runInPlace(const Launch &launch) override;
  bool runSpeculatively(const Launch &) override { return false; }

private:
  friend class CudaExecution;
  void start(const Launch &launch) override;
  /// Whether the host's part of a launch is short enough for the launching thread.
  bool isShort(const Launch &launch) const;
  /// Puts a launch on the stream; null on success.
  RefPtr<Error> perform(const Launch &launch);
  Status copy(const Launch &launch);
  /// The first failure of the device, which a kernel has made unusable. All later work has this failure.
  RefPtr<Error> lose(RefPtr<Error> failure);
  RefPtr<Error> failureOfDevice();

  DeviceResources &resources;
  std::mutex lock;
  std::atomic<bool> isLost{false};
  RefPtr<Error> lost;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CUDASTREAM_H

// What the streams and the exchanges of CUDA devices know of a device: its resources, and copies between two of them.
// After DeviceResources; CudaDevice is one.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H

#include "cuda/DeviceResources.h"
#include "runtime/Device.h"

namespace pcrt::cuda {

class CudaDeviceBase : public Device {
public:
  const DeviceResources &parts() const { return *resources; }

  /// Enqueues a copy of a buffer of a device, perhaps this one, on this one's stream, after what was enqueued there
  /// before.
  Status copyFrom(CudaDeviceBase &other, const Buffer &source, CUdeviceptr target);
  /// The same of bytes that are there when the stream comes to it, for who orders the streams. This device's context is
  /// current.
  Status enqueueCopy(CUdeviceptr target, CudaDeviceBase &other, CUdeviceptr source, size_t bytes);

protected:
  CudaDeviceBase(std::unique_ptr<DeviceResources> made, int number)
      : Device(number, /*onHost=*/false), resources(std::move(made)) {}

  const std::unique_ptr<DeviceResources> resources;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H

// The part of a CUDA device that streams and exchanges use: its resources, and copies between two devices. After
// DeviceResources; CudaDevice is one.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H

#include "driver/DeviceResources.h"
#include "runtime/Device.h"

namespace pcrt::cuda {

class CudaDeviceBase : public Device {
public:
  const DeviceResources &parts() const { return *resources; }

  /// Enqueues a copy of another (or this) device's buffer on this device's stream, after earlier work there.
  Status copyFrom(CudaDeviceBase &other, const Buffer &source, CUdeviceptr target);
  /// The same for bytes that are ready when the stream reaches the copy: the caller orders the streams. This device's
  /// context is current.
  Status enqueueCopy(CUdeviceptr target, CudaDeviceBase &other, CUdeviceptr source, size_t bytes);

protected:
  CudaDeviceBase(std::unique_ptr<DeviceResources> made, int number)
      : Device(number, /*onHost=*/false), resources(std::move(made)) {}

  const std::unique_ptr<DeviceResources> resources;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H

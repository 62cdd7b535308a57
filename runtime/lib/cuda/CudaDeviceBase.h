// The part of a CUDA device that streams and exchanges use: its resources, and copies between two devices. After
// DeviceResources; CudaDevice is one.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICEBASE_H

#include "driver/DeviceResources.h"
#include "runtime/Device.h"

#include <mutex>

namespace pcrt::cuda {

/// Held by a thread that makes the stream of one device wait for the stream of another one, in this process or by an
/// exchange with others. So an exchange on several streams here is before or after such a wait on all of them.
/// Otherwise the streams could wait in a cycle.
std::mutex &betweenStreams();

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

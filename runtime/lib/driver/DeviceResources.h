// All resources of one CUDA device: its context, the stream of its work, memory, copies, and the notification of the
// host. It joins the parts of this room; CudaDevice makes a Device of it.
#ifndef PYCOMPILER_RUNTIME_LIB_DRIVER_DEVICERESOURCES_H
#define PYCOMPILER_RUNTIME_LIB_DRIVER_DEVICERESOURCES_H

#include "driver/CudaMemory.h"
#include "driver/KernelModule.h"
#include "driver/Staging.h"

namespace pcrt::cuda {

class DeviceResources {
public:
  /// Device `number` of the driver, or the reason why it cannot be used.
  static Result<std::unique_ptr<DeviceResources>> create(const Driver &driver, int number);
  /// Waits for pending work. Modules and memory must have been released.
  ~DeviceResources();
  DeviceResources(const DeviceResources &) = delete;
  DeviceResources &operator=(const DeviceResources &) = delete;

  const Context &context() const { return own; }
  const DeviceProperties &properties() const { return known; }
  /// All kernels and copies of the device, in the order of the program. So later work may reuse a freed block, and may
  /// read a result of an earlier kernel.
  CUstream stream() const { return work; }
  /// For copies of completed buffers to the host, which do not wait for the work.
  CUstream readingStream() const { return reads; }
  CudaMemory &memory() { return *blocks; }
  Staging &staging() { return *copies; }
  Completions &completions() { return *watcher; }

  /// Waits for all work on the stream and for its notifications; returns the failure of a lost device.
  Status synchronize();

private:
  DeviceResources() = default;

  Context own;
  DeviceProperties known;
  CUstream work = nullptr, reads = nullptr;
  std::unique_ptr<CudaMemory> blocks;
  std::unique_ptr<Completions> watcher;
  std::unique_ptr<Staging> copies;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_DRIVER_DEVICERESOURCES_H

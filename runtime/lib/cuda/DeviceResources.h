// Everything that one CUDA device works with: its context, the stream of its work, memory, copies, and who tells the
// host of the end. Brings the parts of runtime/lib/cuda together; what makes a Device of it comes after.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_DEVICERESOURCES_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_DEVICERESOURCES_H

#include "cuda/CudaMemory.h"
#include "cuda/KernelModule.h"
#include "cuda/Staging.h"

namespace pcrt::cuda {

class DeviceResources {
public:
  /// Device `number` of the driver, or what it lacks.
  static Result<std::unique_ptr<DeviceResources>> create(const Driver &driver, int number);
  /// Waits for what is under way. Modules and memory must have been given back.
  ~DeviceResources();
  DeviceResources(const DeviceResources &) = delete;
  DeviceResources &operator=(const DeviceResources &) = delete;

  const Context &context() const { return own; }
  const DeviceProperties &properties() const { return known; }
  /// All kernels and copies of the device, in the order of the program: so that a block that is given back may serve
  /// what comes next, and a result can be read by whatever is enqueued after the kernel.
  CUstream stream() const { return work; }
  /// For copies to the host of what is done, which don't wait for the work.
  CUstream readingStream() const { return reads; }
  CudaMemory &memory() { return *blocks; }
  Staging &staging() { return *copies; }
  Completions &completions() { return *watcher; }

  /// Waits for everything on the stream, and until who waits for it was told; the failure of a device that is lost.
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

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_DEVICERESOURCES_H

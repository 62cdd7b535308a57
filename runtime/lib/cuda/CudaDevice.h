// A GPU as a device: arrays are in its memory, executions run on its stream, and the host's threads serve it. After
// CudaBufferPool and CudaStream; Devices makes one for each GPU of the driver.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICE_H

#include "cuda/CudaBufferPool.h"
#include "cuda/CudaDeviceBase.h"
#include "cuda/CudaStream.h"
#include "gpulibraries/DeviceLibraries.h"
#include "runtime/ThreadPool.h"

namespace pcrt::cuda {

class CudaDevice final : public CudaDeviceBase {
public:
  /// Device `number` of the driver, or the reason why it cannot be used.
  static Result<std::unique_ptr<CudaDevice>> create(const Driver &driver, int number, ThreadPool &threads,
                                                    bool inPlace);
  static Result<std::unique_ptr<CudaDevice>> create(const Driver &driver, int number, ThreadPool &threads, bool inPlace,
                                                    RunAhead bound);
  /// Waits for work in flight.
  ~CudaDevice() override { executions.synchronize(); }

  const char *platform() const override { return "gpu"; }
  std::string name() const override { return "cuda:" + std::to_string(id()); }
  std::string kind() const override { return resources->properties().name; }
  std::string computeCapability() const override;
  BufferPool &memory() override { return buffers; }
  Stream &stream() override { return executions; }
  ThreadPool &threads() override { return pool; }

  void *streamHandle() const override { return resources->stream(); }
  const PcrtTable &table() const override;
  Result<std::unique_ptr<LoadedKernels>> load(const KernelImage &image) override;
  std::string assembler() const override;
  Result<std::string> assemble(const std::string &image) override;
  Status read(const void *source, void *target, size_t bytes) override;
  Status write(void *target, const void *source, size_t bytes) override;
  Status readBuffer(const Buffer &source, void *target) override;

  std::unique_ptr<CollectiveWork> collectiveWork() override;
  std::unique_ptr<CollectiveWork> collectiveWork(SharedLaunch &launch, const std::vector<int64_t> &members) override;

  /// Frees the driver's resources for the device before its first use: another process computes there. No call may
  /// follow.
  void giveUp();

  /// NVIDIA's libraries on this device.
  DeviceLibraries &libraries() { return owned; }

private:
  CudaDevice(std::unique_ptr<DeviceResources> made, int number, ThreadPool &threads, bool inPlace, RunAhead bound);
  Status receive(CUstream stream, CUdeviceptr source, void *target, size_t bytes);

  DeviceLibraries owned;
  ThreadPool &pool;
  CudaBufferPool buffers;
  CudaStream executions;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICE_H

// A GPU as a device: arrays live in its memory, executions run on its stream, and the host's threads serve it. After
// CudaBufferPool and CudaStream; Device makes one for each GPU that the driver has.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICE_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICE_H

#include "cuda/CudaBufferPool.h"
#include "cuda/CudaStream.h"
#include "cuda/DeviceLibraries.h"
#include "runtime/Device.h"

namespace pcrt::cuda {

class CudaDevice final : public Device {
public:
  /// Device `number` of the driver, or what it lacks.
  static Result<std::unique_ptr<CudaDevice>> create(const Driver &driver, int number, ThreadPool &threads,
                                                    bool inPlace);
  static Result<std::unique_ptr<CudaDevice>> create(const Driver &driver, int number, ThreadPool &threads, bool inPlace,
                                                    RunAhead bound);
  /// Waits for what is in flight.
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

  const DeviceResources &parts() const { return *resources; }
  /// NVIDIA's libraries on this device.
  DeviceLibraries &libraries() { return owned; }
  /// Enqueues a copy of a buffer of a device, perhaps this one, on this one's stream, after what was enqueued there
  /// before.
  Status copyFrom(CudaDevice &other, const Buffer &source, CUdeviceptr target);
  /// The same of bytes that are there when the stream comes to it, for who orders the streams. This device's context is
  /// current.
  Status enqueueCopy(CUdeviceptr target, CudaDevice &other, CUdeviceptr source, size_t bytes);

private:
  CudaDevice(std::unique_ptr<DeviceResources> made, int number, ThreadPool &threads, bool inPlace, RunAhead bound);
  Status receive(CUstream stream, CUdeviceptr source, void *target, size_t bytes);

  const std::unique_ptr<DeviceResources> resources;
  DeviceLibraries owned;
  ThreadPool &pool;
  CudaBufferPool buffers;
  CudaStream executions;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CUDADEVICE_H

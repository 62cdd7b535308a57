// A part of the host as a device: separate memory and a separate stream, over threads that all CPU devices share.
#ifndef PYCOMPILER_RUNTIME_CPUDEVICE_H
#define PYCOMPILER_RUNTIME_CPUDEVICE_H

#include "runtime/CpuStream.h"
#include "runtime/Device.h"
#include "runtime/HostBufferPool.h"
#include "runtime/ThreadPool.h"

namespace pcrt {

class CpuDevice final : public Device {
public:
  /// `inPlace`: every launch runs in the launching thread.
  CpuDevice(int number, ThreadPool &pool, bool inPlace, RunAhead bound = {})
      : Device(number, /*onHost=*/true), pool(pool), buffers(this), executions(*this, inPlace, bound) {}

  const char *platform() const override { return "cpu"; }
  std::string name() const override { return "cpu:" + std::to_string(id()); }
  std::string kind() const override { return "cpu"; }
  BufferPool &memory() override { return buffers; }
  Stream &stream() override { return executions; }
  ThreadPool &threads() override { return pool; }
  const PcrtTable &table() const override;
  Result<std::unique_ptr<LoadedKernels>> load(const KernelImage &image) override;
  Result<std::string> assemble(const std::string &image) override;
  Status read(const void *source, void *target, size_t bytes) override;
  Status write(void *target, const void *source, size_t bytes) override;
  std::unique_ptr<CollectiveWork> collectiveWork() override;
  std::unique_ptr<CollectiveWork> collectiveWork(SharedLaunch &launch, const std::vector<int64_t> &members) override;

private:
  ThreadPool &pool;
  HostBufferPool buffers;
  CpuStream executions;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_CPUDEVICE_H

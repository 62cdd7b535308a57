// Buffers in a CUDA device's memory: headers on the host over blocks of CudaMemory, which keeps them for the next call.
// After CudaMemory; CudaDevice has one.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDABUFFERPOOL_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDABUFFERPOOL_H

#include "driver/CudaMemory.h"

namespace pcrt::cuda {

/// Work that is enqueued on the device's stream after the allocation may use a buffer. Others may use its memory after
/// the work that was enqueued there before its release.
class CudaBufferPool final : public BufferPool {
public:
  CudaBufferPool(Device &device, CudaMemory &memory) : device(device), memory(memory) {}

  Result<RefPtr<Buffer>> allocate(size_t bytes) override;
  /// The driver's pool grows without page faults.
  bool hasFreed(size_t) override { return true; }
  /// Waits for the stream.
  void trim() override { (void)memory.trim(); }
  MemoryStatistics statistics() override { return memory.statistics(); }
  void resetPeak() override { memory.resetPeak(); }
  uint64_t defaultLimit() const override { return memory.totalBytes(); }
  uint64_t limit() override { return memory.limit(); }
  void setLimit(uint64_t bytes) override { memory.setLimit(bytes); }
  void note(Buffer &buffer, std::string made) override;
  std::vector<LiveBlock> largest(size_t count) override { return memory.largest(count); }
  void beforeFork() override { memory.beforeFork(); }
  void afterFork() override { memory.afterFork(); }

private:
  void recycle(Buffer *buffer) override;

  Device &device;
  CudaMemory &memory;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CUDABUFFERPOOL_H

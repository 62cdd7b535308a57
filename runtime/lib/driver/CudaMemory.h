// The memory of a CUDA device: blocks of the driver's pool, allocated and freed in the order of one stream, with the
// statistics, the limit and the errors of the host's pool. After Context and Buffer.
#ifndef PYCOMPILER_RUNTIME_LIB_DRIVER_CUDAMEMORY_H
#define PYCOMPILER_RUNTIME_LIB_DRIVER_CUDAMEMORY_H

#include "driver/Context.h"
#include "runtime/BufferPool.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pcrt::cuda {

/// An address in the device's memory, in the driver's type.
inline CUdeviceptr addressOf(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

class CudaMemory {
public:
  /// Work that is enqueued on `stream` after an allocation, or that waits for such work, may use the memory.
  static Result<std::unique_ptr<CudaMemory>> create(const Context &context, CUstream stream);
  CudaMemory(const CudaMemory &) = delete;
  CudaMemory &operator=(const CudaMemory &) = delete;

  /// Never 0; a block for no bytes has one. In any thread, but not in a host function. OutOfMemory names the size, the
  /// limit and the largest blocks that are live.
  Result<CUdeviceptr> allocate(size_t bytes);
  /// Frees after the current work of the stream. In any thread; a host function may call it, too: then it is deferred
  /// until the next call from elsewhere. A failure is kept until the next allocation, because the releasing code cannot
  /// handle it.
  void free(CUdeviceptr pointer);

  /// Other users of the driver's pool in the process share it: its cache (`cachedBytes`) includes theirs.
  MemoryStatistics statistics();
  void resetPeak();
  /// Returns free memory to the device; waits for the stream, because freed blocks are in use until it has passed them.
  Status trim();
  /// The device's total memory.
  uint64_t totalBytes() const { return total; }
  uint64_t limit();
  /// Sets the limit of live bytes; live memory stays valid.
  void setLimit(uint64_t bytes);

  /// Enables direct copies to another device, if the hardware supports it; else the driver copies through the host's
  /// memory.
  Status letIn(CUdevice reader);

  /// Notes the contents of a block and the operation that made it, for errors.
  void note(CUdeviceptr pointer, std::string made);
  /// The largest blocks in use.
  std::vector<LiveBlock> largest(size_t count);

  /// Around fork(): a child must not use the device, but may query statistics.
  void beforeFork() { lock.lock(); }
  void afterFork() { lock.unlock(); }

private:
  CudaMemory(const Context &context, CUstream stream) : context(context), stream(stream) {}
  Status freeDeferred();
  Result<CUdeviceptr> take(size_t bytes);
  Status refusal(size_t bytes, const std::string &why);
  uint64_t poolBytes(CUmemPool_attribute attribute) const;

  const Context context;
  CUstream const stream;
  CUmemoryPool pool = nullptr;
  uint64_t total = 0;

  std::mutex lock;
  std::unordered_map<CUdeviceptr, LiveBlock> blocks;
  /// Freed in host functions.
  std::vector<CUdeviceptr> deferred;
  std::unordered_set<CUdevice> readers;
  uint64_t live = 0, peak = 0, most = 0, allocations = 0, largestEver = 0;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_DRIVER_CUDAMEMORY_H

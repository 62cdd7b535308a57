// The memory of a CUDA device: blocks of the driver's pool, taken and given back in the order of one stream, with the
// statistics, the limit and the errors of the host's pool. After Context and Buffer.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_CUDAMEMORY_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_CUDAMEMORY_H

#include "cuda/Context.h"
#include "runtime/BufferPool.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pcrt::cuda {

/// A place in the device's memory, as the driver counts it.
inline CUdeviceptr addressOf(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

class CudaMemory {
public:
  /// What is allocated may be used by work that is enqueued on `stream` afterwards, or that waits for such work.
  static Result<std::unique_ptr<CudaMemory>> create(const Context &context, CUstream stream);
  CudaMemory(const CudaMemory &) = delete;
  CudaMemory &operator=(const CudaMemory &) = delete;

  /// Never 0; a block for no bytes has one. In any thread, but not in a host function. OutOfMemory names the size, the
  /// limit and the largest blocks that are live.
  Result<CUdeviceptr> allocate(size_t bytes);
  /// After what is on the stream now. In any thread; in a host function too, where it is put off until the next call
  /// from elsewhere. A failure stays until the next allocation: whoever gives up a buffer has no use for it.
  void free(CUdeviceptr pointer);

  /// The driver's pool is shared with what else in the process uses it: what it keeps (`cachedBytes`) is of all of
  /// them.
  MemoryStatistics statistics();
  void resetPeak();
  /// Gives what is free back to the device; waits for the stream, as freed blocks are in use until it has passed them.
  Status trim();
  /// What the device has.
  uint64_t totalBytes() const { return total; }
  uint64_t limit();
  /// How many bytes may be live from now on; what is live already stays.
  void setLimit(uint64_t bytes);

  /// Has copies to another device go there directly, if the hardware can do it; else the driver takes them by way of
  /// the host's memory.
  Status letIn(CUdevice reader);

  /// Says of a block what it holds and who made it, for errors.
  void note(CUdeviceptr pointer, std::string made);
  /// The largest blocks in use.
  std::vector<LiveBlock> largest(size_t count);

  /// Around fork(): a child must not use the device, but may ask for statistics.
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
  /// Given up in host functions.
  std::vector<CUdeviceptr> deferred;
  std::unordered_set<CUdevice> readers;
  uint64_t live = 0, peak = 0, most = 0, allocations = 0, largestEver = 0;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_CUDAMEMORY_H

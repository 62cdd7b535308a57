// Copies between the host's memory and a CUDA device's by way of page-locked blocks, as from and to other memory the
// driver makes the host wait for the stream. After Completions; before whatever moves arrays.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_STAGING_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_STAGING_H

#include "cuda/Completions.h"

#include <map>
#include <unordered_map>

namespace pcrt::cuda {

class Staging {
public:
  /// Locking memory costs more than most copies: so many bytes are kept for the next ones.
  static constexpr uint64_t keptBytes = uint64_t(256) << 20;

  Staging(const Context &context, CUstream stream, Completions &completions)
      : context(context), stream(stream), completions(completions) {}
  /// When nothing is under way, and every block was given back.
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// Enqueues a copy to the device. The source is the caller's again at once.
  Status upload(CUdeviceptr target, const void *source, size_t bytes);
  /// Enqueues a copy to a block of the host, which holds the bytes when the stream has come so far, and is the caller's
  /// until `release`. OutOfMemory when the system does not let so much be locked. `on`: another stream of the device.
  Result<void *> download(CUdeviceptr source, size_t bytes, CUstream on = nullptr);
  /// In any thread, in a host function too; not before the copy is done.
  void release(void *block);

  /// Gives the blocks that wait for a copy back to the system.
  void trim();
  /// Of all blocks, and of those that wait.
  uint64_t lockedBytes();
  uint64_t cachedBytes();

private:
  class Return;
  Result<void *> take(size_t bytes);
  /// Frees what was kept until no more than `bytes` are.
  void shrinkTo(uint64_t bytes);

  const Context context;
  CUstream const stream;
  Completions &completions;
  std::mutex lock;
  /// What waits, by size; and the sizes of all.
  std::multimap<size_t, void *> waiting;
  std::unordered_map<void *, size_t> sizes;
  uint64_t locked = 0, cached = 0;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_STAGING_H
